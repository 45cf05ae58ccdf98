// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Transpositions with a short contiguous axis: a thread moves all elements along it.
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK: transposition-class {{.*}} kernel=read, read-axes=0, through=registers
// REMARK: transposition-class {{.*}} kernel=write, read-axes=0, through=registers
// REMARK: transposition-class {{.*}} kernel=odd, read-axes=0, through=registers
// REMARK: transposition-class {{.*}} kernel=together, read-axes=0, through=registers
// REMARK: transposition-class {{.*}} kernel=open, read-axes=0, through=registers
// REMARK: transposition-class {{.*}} kernel=long, read-axes=0, through="shared memory"

// Four rows of five elements are five vectors of the operand, and become a vector of each of the five rows of the result.
// CHECK: func.func private @read(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 2, elements = 20>}
// CHECK: func.func private @odd(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 2, elements = 5>}
// CHECK-LABEL: gpu.func @read
// CHECK: scf.for
// CHECK-COUNT-5: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-5: llvm.store {{.*}} : vector<4xf32>
// CHECK-NOT: llvm.store
// CHECK: gpu.return
ad.kernel private @read(%a: tensor<100x5xf32>) -> tensor<5x100xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<5x100xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<100x5xf32>) outs(%e : tensor<5x100xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<5x100xf32>
  ad.yield %r : tensor<5x100xf32>
}

// The other way round; eight elements of 16 bits are a vector, of which two rows of five have ten.
// CHECK-LABEL: gpu.func @write
// CHECK-COUNT-5: llvm.load {{.*}} -> vector<2xi16>
// CHECK-COUNT-5: llvm.store {{.*}} : vector<2xi16>
// CHECK-NOT: llvm.store
// CHECK: gpu.return
ad.kernel private @write(%a: tensor<5x102xbf16>) -> tensor<102x5xbf16> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<102x5xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<5x102xbf16>) outs(%e : tensor<102x5xbf16>) {
  ^bb0(%x: bf16, %out: bf16):
    linalg.yield %x : bf16
  } -> tensor<102x5xbf16>
  ad.yield %r : tensor<102x5xbf16>
}

// Rows of odd length begin anywhere: elements one by one.
// CHECK-LABEL: gpu.func @odd
// CHECK-NOT: vector<
// CHECK: gpu.return
ad.kernel private @odd(%a: tensor<101x5xf32>) -> tensor<5x101xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<5x101xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<101x5xf32>) outs(%e : tensor<5x101xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<5x101xf32>
  ad.yield %r : tensor<5x101xf32>
}

// Two short axes are one, also in the remark.
// CHECK-LABEL: gpu.func @together
// CHECK-COUNT-6: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-6: llvm.store {{.*}} : vector<4xf32>
// CHECK: gpu.return
ad.kernel private @together(%a: tensor<64x3x2xf32>) -> tensor<3x2x64xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<3x2x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<64x3x2xf32>) outs(%e : tensor<3x2x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<3x2x64xf32>
  ad.yield %r : tensor<3x2x64xf32>
}

// Nothing divides an open size; a thread moves one line of the operand.
// CHECK-LABEL: gpu.func @open
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-4: llvm.store {{.*}} : f32
// CHECK: gpu.return
ad.kernel private @open(%a: tensor<?x4xf32>) -> tensor<4x?xf32> attributes {kernel_class = "transposition"} {
  %zero = arith.constant 0 : index
  %size = tensor.dim %a, %zero : tensor<?x4xf32>
  %e = tensor.empty(%size) : tensor<4x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x4xf32>) outs(%e : tensor<4x?xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<4x?xf32>
  ad.yield %r : tensor<4x?xf32>
}

ad.kernel private @long(%a: tensor<100x33xf32>) -> tensor<33x100xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<33x100xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<100x33xf32>) outs(%e : tensor<33x100xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<33x100xf32>
  ad.yield %r : tensor<33x100xf32>
}
