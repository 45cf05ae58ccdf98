// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-ad-to-linalg --ad-outline-kernels | FileCheck %s

// Equal fusions share a kernel.
// CHECK-COUNT-1: ad.kernel private @elementwise
// CHECK-NOT: ad.kernel
// CHECK-LABEL: func.func @twice
// CHECK: %[[ONCE:.+]] = ad.launch @[[KERNEL:elementwise.*]](%{{.+}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: ad.launch @[[KERNEL]](%[[ONCE]])
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = ad.exp %a : tensor<4xf32>
    ad.yield %0 : tensor<4xf32>
  }
  %z = ad.fusion elementwise (%a = %y) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = ad.exp %a : tensor<4xf32>
    ad.yield %0 : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}

// Kernels get names that linkers take, one each.
// CHECK-LABEL: func.func @named
// CHECK: ad.launch @a$40b_(
// CHECK: ad.kernel private @a$40b_(
// CHECK: func.func private @a$40b(
func.func @named(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.launch @"a@b"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
ad.kernel private @"a@b"(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = #ad<kernel_class elementwise>} {
  ad.yield %x : tensor<4xf32>
}
func.func private @a$40b(tensor<4xf32>)
