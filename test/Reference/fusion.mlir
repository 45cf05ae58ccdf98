// RUN: ad-runner %s --target reference
// RUN: ad-opt %s --ad-set-numerics --ad-fuse -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: ad-runner %t.mlir --target reference

// A fusion means what its operations mean: the program runs before and after ad-fuse.

// CHECK: ad.fusion
func.func @main() -> tensor<f32> {
  %x = ad.constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  %v = ad.barrier %x : tensor<3xf32>
  %y = ad.mul %v, %v : tensor<3xf32>
  %z = ad.reduce_sum %y axes [0] : tensor<3xf32> -> tensor<f32>
  %fourteen = ad.constant dense<14.0> : tensor<f32>
  check.expect_eq(%z, %fourteen) : tensor<f32>
  return %z : tensor<f32>
}
