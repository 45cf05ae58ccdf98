// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK-DAG: transposition-class | Category:ad-gpu | kernel=whole
// REMARK-DAG: transposition-class | Category:ad-gpu | kernel=short_floats
// REMARK-DAG: transposition-class | Category:ad-gpu | kernel=edges
// REMARK-DAG: transposition-class | Category:ad-gpu | kernel=odd
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=rows, reason="what is contiguous stays contiguous"
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=negated, reason="it is more than a transposition"
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=nothing, reason="it has no elements"

// A block takes a tile of 128 by 128 elements of 8 bits, one of 64 by 64 of 16 bits.
// CHECK: func.func private @whole(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 2, elements = 16384>}
// CHECK: func.func private @short_floats(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 3, elements = 4096>}
// CHECK: gpu.module @ad_kernels

// Read along the operand, written to shared memory a word of four lines at a time at permuted places, read there and written along
// the result.
// CHECK: llvm.mlir.global internal @whole$tile() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<16384 x i8>
// CHECK-LABEL: gpu.func @whole
// CHECK: gpu.barrier
// CHECK-COUNT-4: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<16xi8>
// CHECK: arith.xori
// CHECK: llvm.store %{{.+}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: arith.xori
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<16xi8>
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<16xi8>, !llvm.ptr
// CHECK: gpu.return
ad.kernel private @whole(%a: tensor<256x384xi8>) -> tensor<384x256xi8> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<384x256xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%a : tensor<256x384xi8>) outs(%e : tensor<384x256xi8>) {
  ^bb0(%x: i8, %out: i8):
    linalg.yield %x : i8
  } -> tensor<384x256xi8>
  ad.yield %r : tensor<384x256xi8>
}

// Elements of two lines of the operand make a word.
// CHECK-LABEL: gpu.func @short_floats
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xi16>
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xi16>
// CHECK: arith.shli
// CHECK: arith.ori
// CHECK: llvm.store %{{.+}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK: gpu.return
ad.kernel private @short_floats(%a: tensor<3x64x128xf16>) -> tensor<3x128x64xf16>
    attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<3x128x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<3x64x128xf16>) outs(%e : tensor<3x128x64xf16>) {
  ^bb0(%x: f16, %out: f16):
    linalg.yield %x : f16
  } -> tensor<3x128x64xf16>
  ad.yield %r : tensor<3x128x64xf16>
}

// Of tiles that are not whole, elements outside are left out.
// CHECK-LABEL: gpu.func @edges
// CHECK: scf.if
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xi16>
// CHECK: else
// CHECK: scf.if
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr
// CHECK: gpu.return
ad.kernel private @edges(%a: tensor<184x376xbf16>) -> tensor<376x184xbf16> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<376x184xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%a : tensor<184x376xbf16>) outs(%e : tensor<376x184xbf16>) {
  ^bb0(%x: bf16, %out: bf16):
    linalg.yield %x : bf16
  } -> tensor<376x184xbf16>
  ad.yield %r : tensor<376x184xbf16>
}

// Rows that are no multiples of 16 bytes move element by element (ad-emit-gpu-box-transpositions.mlir).
// CHECK-LABEL: gpu.func @odd
// CHECK-NOT: vector<
// CHECK: gpu.return
ad.kernel private @odd(%a: tensor<184x377xbf16>) -> tensor<377x184xbf16> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<377x184xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%a : tensor<184x377xbf16>) outs(%e : tensor<377x184xbf16>) {
  ^bb0(%x: bf16, %out: bf16):
    linalg.yield %x : bf16
  } -> tensor<377x184xbf16>
  ad.yield %r : tensor<377x184xbf16>
}

ad.kernel private @rows(%a: tensor<7x38x4xf32>) -> tensor<38x7x4xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<38x7x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<7x38x4xf32>) outs(%e : tensor<38x7x4xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<38x7x4xf32>
  ad.yield %r : tensor<38x7x4xf32>
}

ad.kernel private @negated(%a: tensor<7x38xf32>) -> tensor<38x7xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<38x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%a : tensor<7x38xf32>) outs(%e : tensor<38x7xf32>) {
  ^bb0(%x: f32, %out: f32):
    %n = arith.negf %x : f32
    linalg.yield %n : f32
  } -> tensor<38x7xf32>
  ad.yield %r : tensor<38x7xf32>
}

// CHECK-LABEL: gpu.func @nothing
// CHECK-NOT: !llvm.ptr<3>
// CHECK: gpu.return
ad.kernel private @nothing(%a: tensor<256x0xf32>) -> tensor<0x256xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<0x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%a : tensor<256x0xf32>) outs(%e : tensor<0x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<0x256xf32>
  ad.yield %r : tensor<0x256xf32>
}
