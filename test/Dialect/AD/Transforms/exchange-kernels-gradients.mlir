// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// Tensor cores sum the products of derivatives, too, as the contract of the operations permits that they come from. Each
// product is six of parts, and the gradient of one has two.
// RUN: ad-opt %s --ad-to-cpu-frontend=kernels=dot=bf16x6 | FileCheck %s
// RUN: ad-opt %s --ad-to-cpu-frontend='kernels=dot=bf16x6 numerics=reproducible' | FileCheck %s --check-prefix=EXACT --implicit-check-not=ad.instruction
// EXACT-COUNT-18: ad.dot {{.*}}allow = #ad.allow<none>

func.func private @f(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %y = ad.dot %a, %b : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

func.func private @exact(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32>
    attributes {ad.adjoint_numerics = #ad.numerics<reproducible>} {
  %y = ad.dot %a, %b : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: @gradient
func.func @gradient(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %t: tensor<8x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>) {
  // CHECK-COUNT-18: ad.dot {{.*}}ad.instruction = #ad.instruction<m = 16, n = 8, k = 16, promote = 128>, allow = #ad.allow<mma>
  // CHECK-NOT: ad.dot
  // CHECK: return
  %y, %da, %db = ad.vjp @f(%a, %b) cotangents(%t) wrt [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>)
  return %y, %da, %db : tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>
}

// CHECK-LABEL: @exact_gradient
func.func @exact_gradient(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %t: tensor<8x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>) {
  // CHECK-COUNT-6: ad.dot {{.*}}ad.instruction
  // CHECK-COUNT-12: ad.dot {{.*}}allow = #ad.allow<none>
  %y, %da, %db = ad.vjp @exact(%a, %b) cotangents(%t) wrt [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>)
  return %y, %da, %db : tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>
}
