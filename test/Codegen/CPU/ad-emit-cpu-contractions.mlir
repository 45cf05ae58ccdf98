// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu=vector-bytes=64 | FileCheck %s

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// 4096 rows are 512 tiles of 8: a unit is a tile, and nothing is emitted for less. The first
// product is stored before the second is computed, since neither result may overwrite an operand that both read.
// CHECK-LABEL: func.func private @two_products
// CHECK-SAME: %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %[[Y:.+]]: !llvm.ptr, %[[Z:.+]]: !llvm.ptr, %[[BEGIN:.+]]: index, %[[END:.+]]: index
// CHECK-SAME: ad.units = {{\[\[}}0, array<i64: 8, 0>]]
// CHECK-DAG: %[[TILE:.+]] = arith.constant 8 : index
// CHECK: %[[FIRST:.+]] = arith.muli %[[BEGIN]], %[[TILE]]
// CHECK: arith.muli %[[END]], %[[TILE]]
// CHECK: scf.for %{{.+}} = %[[FIRST]] to %{{.+}} step %[[TILE]] {
// CHECK: scf.for
// CHECK-COUNT-8: math.fma
// CHECK-COUNT-8: llvm.getelementptr %[[Y]]
// CHECK: scf.for
// CHECK-COUNT-8: math.fma
// CHECK-COUNT-8: llvm.getelementptr %[[Z]]
// CHECK-NOT: math.fma
// CHECK: return
ad.kernel private @two_products(%x: tensor<4096x16xf32>, %v: tensor<16x16xf32>, %w: tensor<16x16xf32>)
    -> (tensor<4096x16xf32>, tensor<4096x16xf32>) attributes {kernel_class = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %y = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<4096x16xf32>, tensor<16x16xf32>) outs(%f : tensor<4096x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %t = math.fma %a, %b, %sum : f32
    linalg.yield %t : f32
  } -> tensor<4096x16xf32>
  %z = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4096x16xf32>, tensor<16x16xf32>) outs(%f : tensor<4096x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %t = math.fma %a, %b, %sum : f32
    linalg.yield %t : f32
  } -> tensor<4096x16xf32>
  ad.yield %y, %z : tensor<4096x16xf32>, tensor<4096x16xf32>
}

// Here the sum may overwrite its operand, which the second result reads too: both results are computed before the first store.
// CHECK-LABEL: func.func private @sum_and_half
// CHECK: arith.addf
// CHECK-NOT: llvm.store
// CHECK: arith.mulf
// CHECK: llvm.store
// CHECK: llvm.store
#identity = affine_map<(i, j) -> (i, j)>
ad.kernel private @sum_and_half(%x: tensor<4x16xf32>, %y: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
    attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4x16xf32>
  %s = linalg.generic {indexing_maps = [#identity, #identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %half = arith.constant 0.5 : f32
  %h = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%a: f32, %out: f32):
    %t = arith.mulf %a, %half : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  ad.yield %s, %h : tensor<4x16xf32>, tensor<4x16xf32>
}
