// RUN: ad-opt %s --verify-roundtrip | FileCheck %s

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func private @aux(%w: tensor<4xf32>) -> (tensor<f32>, tensor<i32>)
func.func private @f(%x: tensor<4xf32>, %n: index) -> (tensor<2xf32>, tensor<i32>)

// CHECK-LABEL: func.func @value_and_grad(
// CHECK-SAME: %[[W:.+]]: tensor<4xf32>, %[[X:.+]]: tensor<4xi32>
func.func @value_and_grad(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // CHECK: ad.value_and_grad @loss(%[[W]], %[[X]]) wrt [0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  %loss, %dw = ad.value_and_grad @loss(%w, %x) wrt [0]
    : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  // CHECK: ad.value_and_grad @aux(%[[W]]) wrt [0] has_aux : (tensor<4xf32>) -> (tensor<f32>, tensor<i32>, tensor<4xf32>)
  %value, %count, %dv = ad.value_and_grad @aux(%w) wrt [0] has_aux
    : (tensor<4xf32>) -> (tensor<f32>, tensor<i32>, tensor<4xf32>)
  return
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[N:.+]]: index, %[[DY:.+]]: tensor<2xf32>
func.func @vjp(%x: tensor<4xf32>, %n: index, %dy: tensor<2xf32>) {
  // CHECK: ad.vjp @f(%[[X]], %[[N]]) cotangents(%[[DY]]) wrt [0] : (tensor<4xf32>, index, tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>, tensor<4xf32>)
  %y, %i, %dx = ad.vjp @f(%x, %n) cotangents(%dy) wrt [0]
    : (tensor<4xf32>, index, tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>, tensor<4xf32>)
  return
}
