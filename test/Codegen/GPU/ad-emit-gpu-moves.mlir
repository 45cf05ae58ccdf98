// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that move elements: contiguous axes are one, indices have 32 bits, vectors cross rows. gpu_movements_test.py compares
// random ones with the reference interpreter.
// RUN: ad-opt %s --ad-emit-gpu | FileCheck %s

#identity = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d1, d2)>
#middle = affine_map<(d0, d1, d2) -> (d0, 0, d2)>

// The grid still counts the elements of the tensor that the program has.
// CHECK: func.func private @concat(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 3, elements = 4>}
// CHECK: func.func private @wide{{.*}}axes = 3, elements = 4>

// A row of 3 x 5 and one of 4 x 5 elements are one of 35: the first element of a run has one division. All tensors have fewer
// than 2^31 elements, and only addresses have 64 bits.
// CHECK-LABEL: gpu.func @concat
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %{{.+}} : i32
// CHECK: %[[FIRST:.+]] = arith.muli %[[I]], %{{.+}} : i32
// CHECK: arith.remui %[[FIRST]], %c35{{.*}} : i32
// CHECK: arith.divui %[[FIRST]], %c35{{.*}} : i32
// CHECK-NOT: arith.divui
// CHECK: arith.cmpi ult, %{{.+}}, %c15{{.*}} : i32
// CHECK: arith.extsi %{{.+}} : i32 to i64
// CHECK: llvm.load %{{.+}} -> f32
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>
ad.kernel private @concat(%a: tensor<9x3x5xf32>, %b: tensor<9x4x5xf32>) -> tensor<9x7x5xf32> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<9x7x5xf32>
  %0 = tensor.insert_slice %a into %e[0, 0, 0] [9, 3, 5] [1, 1, 1] : tensor<9x3x5xf32> into tensor<9x7x5xf32>
  %1 = tensor.insert_slice %b into %0[0, 3, 0] [9, 4, 5] [1, 1, 1] : tensor<9x4x5xf32> into tensor<9x7x5xf32>
  ad.yield %1 : tensor<9x7x5xf32>
}

// Whole rows: a contiguous part of the operand, which begins at a multiple of 16 bytes.
// CHECK-LABEL: gpu.func @slice_rows
// CHECK: scf.for
// CHECK-NOT: arith.divui
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>
ad.kernel private @slice_rows(%a: tensor<9x4x5xf32>) -> tensor<3x4x5xf32> attributes {kernel_class = "generic"} {
  %0 = tensor.extract_slice %a[2, 0, 0] [3, 4, 5] [1, 1, 1] : tensor<9x4x5xf32> to tensor<3x4x5xf32>
  ad.yield %0 : tensor<3x4x5xf32>
}

// An operand that lacks the first axis: two axes are left, rows of 35 elements. The operand of the shape of the result has vectors,
// the other one a load for each element.
// CHECK-LABEL: gpu.func @repeated
// CHECK: arith.remui %{{.+}}, %c35{{.*}} : i32
// CHECK: llvm.load %{{.+}} -> vector<4xf32>
// CHECK-COUNT-4: llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: llvm.store %{{.+}} : vector<4xf32>
ad.kernel private @repeated(%a: tensor<4x7x5xf32>, %b: tensor<7x5xf32>) -> tensor<4x7x5xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4x7x5xf32>
  %r = linalg.generic {indexing_maps = [#identity, #last, #identity], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b : tensor<4x7x5xf32>, tensor<7x5xf32>) outs(%e : tensor<4x7x5xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x7x5xf32>
  ad.yield %r : tensor<4x7x5xf32>
}

// An operand that lacks the axis in the middle keeps all axes apart.
// CHECK-LABEL: gpu.func @between
// CHECK: arith.remui %{{.+}}, %c5{{.*}} : i32
// CHECK: arith.remui %{{.+}}, %c7{{.*}} : i32
ad.kernel private @between(%a: tensor<4x7x5xf32>, %b: tensor<4x1x5xf32>) -> tensor<4x7x5xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4x7x5xf32>
  %r = linalg.generic {indexing_maps = [#identity, #middle, #identity], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b : tensor<4x7x5xf32>, tensor<4x1x5xf32>) outs(%e : tensor<4x7x5xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x7x5xf32>
  ad.yield %r : tensor<4x7x5xf32>
}

// Too many elements for 32 bits.
// CHECK-LABEL: gpu.func @wide
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{[^:]+}} {
// CHECK-NOT: arith.{{.+}} : i32
// CHECK: arith.remui %{{.+}}, %{{.+}} : index
// CHECK: gpu.return
ad.kernel private @wide(%a: tensor<70000x5x7999xf32>) -> tensor<70000x5x7997xf32> attributes {kernel_class = "generic"} {
  %0 = tensor.extract_slice %a[0, 0, 1] [70000, 5, 7997] [1, 1, 1] : tensor<70000x5x7999xf32> to tensor<70000x5x7997xf32>
  ad.yield %0 : tensor<70000x5x7997xf32>
}
