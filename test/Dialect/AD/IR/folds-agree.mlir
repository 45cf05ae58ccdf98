// Folds of constants against the execution of the same operations on results of barriers.
// RUN: ad-opt %s --ad-set-numerics --canonicalize -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: ad-runner %t.mlir --target reference -O0
// RUN: ad-runner %t.mlir --target cpu

// The operations on constants are folded, the operations on results of the barrier are not.
// CHECK-LABEL: func.func @main
// CHECK-NOT: {{ad\.(reshape|transpose|slice|broadcast|pad|concat|reverse|reduce_[a-z]+) .*%cst}}
// CHECK: return
func.func @main() -> tensor<2x4x3xf32> {
  %c = ad.constant dense<[[[1.1, -2.2, 3.3], [4.0e7, 5.5, -0.0]], [[7.7e-3, 8.8, 9.9], [1.5, 2.5, -3.5]]]> : tensor<2x2x3xf32>
  %v = ad.constant dense<-7.0> : tensor<f32>
  %b = ad.barrier %c : tensor<2x2x3xf32>
  %w = ad.barrier %v : tensor<f32>

  %reshape = ad.reshape %c : tensor<2x2x3xf32> -> tensor<3x4xf32>
  %reshaped = ad.reshape %b : tensor<2x2x3xf32> -> tensor<3x4xf32>
  check.expect_eq(%reshape, %reshaped) : tensor<3x4xf32>
  %transpose = ad.transpose %c [2, 0, 1] : tensor<2x2x3xf32>
  %transposed = ad.transpose %b [2, 0, 1] : tensor<2x2x3xf32>
  check.expect_eq(%transpose, %transposed) : tensor<3x2x2xf32>
  %slice = ad.slice %c [0, 1, 0] strides [1, 1, 2] : tensor<2x2x3xf32> -> tensor<2x1x2xf32>
  %sliced = ad.slice %b [0, 1, 0] strides [1, 1, 2] : tensor<2x2x3xf32> -> tensor<2x1x2xf32>
  check.expect_eq(%slice, %sliced) : tensor<2x1x2xf32>
  %broadcast = ad.broadcast %slice : tensor<2x1x2xf32> -> tensor<3x2x2x2xf32>
  %repeated = ad.broadcast %sliced : tensor<2x1x2xf32> -> tensor<3x2x2x2xf32>
  check.expect_eq(%broadcast, %repeated) : tensor<3x2x2x2xf32>
  %pad = ad.pad %c, %v low [1, 0, 2] high [0, 1, 0] interior [0, 2, 1] : tensor<2x2x3xf32>, tensor<f32>
  %padded = ad.pad %b, %w low [1, 0, 2] high [0, 1, 0] interior [0, 2, 1] : tensor<2x2x3xf32>, tensor<f32>
  check.expect_eq(%pad, %padded) : tensor<3x5x7xf32>
  %concat = ad.concat axis 1 %c, %c : tensor<2x2x3xf32>, tensor<2x2x3xf32>
  %joined = ad.concat axis 1 %b, %b : tensor<2x2x3xf32>, tensor<2x2x3xf32>
  check.expect_eq(%concat, %joined) : tensor<2x4x3xf32>
  %reverse = ad.reverse %c axes [0, 2] : tensor<2x2x3xf32>
  %reversed = ad.reverse %b axes [0, 2] : tensor<2x2x3xf32>
  check.expect_eq(%reverse, %reversed) : tensor<2x2x3xf32>

  %sum_0 = ad.reduce_sum %c axes [0] : tensor<2x2x3xf32> -> tensor<2x3xf32>
  %sum_0_run = ad.reduce_sum %b axes [0] : tensor<2x2x3xf32> -> tensor<2x3xf32>
  check.expect_eq(%sum_0, %sum_0_run) : tensor<2x3xf32>
  %sum_02 = ad.reduce_sum %c axes [0, 2] : tensor<2x2x3xf32> -> tensor<2xf32>
  %sum_02_run = ad.reduce_sum %b axes [0, 2] : tensor<2x2x3xf32> -> tensor<2xf32>
  check.expect_eq(%sum_02, %sum_02_run) : tensor<2xf32>
  %sum_012 = ad.reduce_sum %c axes [0, 1, 2] : tensor<2x2x3xf32> -> tensor<f32>
  %sum_012_run = ad.reduce_sum %b axes [0, 1, 2] : tensor<2x2x3xf32> -> tensor<f32>
  check.expect_eq(%sum_012, %sum_012_run) : tensor<f32>
  %prod_1 = ad.reduce_prod %c axes [1] : tensor<2x2x3xf32> -> tensor<2x3xf32>
  %prod_1_run = ad.reduce_prod %b axes [1] : tensor<2x2x3xf32> -> tensor<2x3xf32>
  check.expect_eq(%prod_1, %prod_1_run) : tensor<2x3xf32>
  %mean_12 = ad.reduce_mean %c axes [1, 2] : tensor<2x2x3xf32> -> tensor<2xf32>
  %mean_12_run = ad.reduce_mean %b axes [1, 2] : tensor<2x2x3xf32> -> tensor<2xf32>
  check.expect_eq(%mean_12, %mean_12_run) : tensor<2xf32>
  %max_2 = ad.reduce_max %c axes [2] : tensor<2x2x3xf32> -> tensor<2x2xf32>
  %max_2_run = ad.reduce_max %b axes [2] : tensor<2x2x3xf32> -> tensor<2x2xf32>
  check.expect_eq(%max_2, %max_2_run) : tensor<2x2xf32>
  %min_02 = ad.reduce_min %c axes [0, 2] : tensor<2x2x3xf32> -> tensor<2xf32>
  %min_02_run = ad.reduce_min %b axes [0, 2] : tensor<2x2x3xf32> -> tensor<2xf32>
  check.expect_eq(%min_02, %min_02_run) : tensor<2xf32>
  return %joined : tensor<2x4x3xf32>
}
