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

// Kernels of the input program get names that linkers accept and no other symbol has, one each.
// CHECK-LABEL: func.func @named
// CHECK: ad.launch @kernel_a$40b_(
// CHECK: ad.kernel private @kernel_a$40b_(
// CHECK: func.func private @kernel_a$40b(
func.func @named(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.launch @"a@b"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
ad.kernel private @"a@b"(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  ad.yield %x : tensor<4xf32>
}
func.func private @kernel_a$40b(tensor<4xf32>)

// CHECK-LABEL: func.func @like_others
// CHECK: ad.launch @kernel_memcpy(
// CHECK: ad.launch @kernel_kept(
func.func @like_others(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.launch @memcpy(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = ad.launch @kernel_kept(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
ad.kernel private @memcpy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  ad.yield %x : tensor<4xf32>
}
ad.kernel private @kernel_kept(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  ad.yield %x : tensor<4xf32>
}
