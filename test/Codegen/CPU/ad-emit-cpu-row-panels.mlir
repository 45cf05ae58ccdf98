// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu="vector-bytes=32 tiles=small" | FileCheck %s

#left = affine_map<(i, j, k) -> (k, i)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// The left operand is contiguous along the rows: three rows of each step are copied to a panel whose steps are a vector
// apart, from which all columns read them.
// CHECK-LABEL: func.func private @transposed_left
// CHECK: %[[ROWS:.+]] = llvm.intr.masked.load
// CHECK: %[[TO:.+]] = llvm.getelementptr %[[PANEL:[a-z0-9]+]][
// CHECK-NEXT: llvm.store %[[ROWS]], %[[TO]]
// CHECK: llvm.getelementptr %[[PANEL]][
// CHECK: math.fma
// CHECK: return
ad.kernel private @transposed_left(%x: tensor<64x96xf32>, %w: tensor<64x160xf32>) -> tensor<96x160xf32>
    attributes {kernel_class = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x160xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x160xf32>) -> tensor<96x160xf32>
  %y = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x96xf32>, tensor<64x160xf32>) outs(%f : tensor<96x160xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %t = math.fma %a, %b, %sum : f32
    linalg.yield %t : f32
  } -> tensor<96x160xf32>
  ad.yield %y : tensor<96x160xf32>
}
