// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// RUN: ad-opt %s --ad-set-numerics --ad-exchange-kernels | FileCheck %s --enable-var-scope
// RUN: not ad-opt %s --ad-set-numerics=numerics=reproducible 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: 'ad.dot' op expected no permissions in a reproducible module

// Tensor cores compute the products of parts of bf16 with two permissions; one is not enough, and others are not kept.
// CHECK-LABEL: @one_permission
func.func @one_permission(%m: tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NOT: ad.instruction
  %0 = ad.dot %m, %m contract [1] x [1] {ad.named_kernel = "bf16x6", allow = #ad.allow<mma>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %1 = ad.dot %m, %m contract [1] x [1] {ad.named_kernel = "bf16x6", allow = #ad.allow<reorder>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK-COUNT-6: ad.dot {{.*}}ad.instruction = {{.*}}allow = #ad.allow<mma>
  %2 = ad.dot %m, %m contract [1] x [1] {ad.named_kernel = "bf16x6", allow = #ad.allow<reorder|mma|narrow>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
