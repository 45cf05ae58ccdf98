// RUN: ad-opt %s --ad-differentiate | FileCheck %s
// RUN: ad-opt %s --ad-differentiate | FileCheck %s --check-prefix=GONE
// GONE-NOT: ad.vjp
// GONE-NOT: ad.value_and_grad
// GONE-NOT: ad.stop_gradient

// One function for two requests; contributions are added in the order of the uses.
// CHECK-LABEL: func.func private @square__grad_0(
// CHECK-SAME:    %[[X:.+]]: tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK:       %[[Y:.+]] = ad.mul %[[X]], %[[X]] : tensor<f32>
// CHECK:       %[[ONE:.+]] = ad.constant dense<1.000000e+00> : tensor<f32>
// CHECK:       %[[FIRST:.+]] = ad.mul %[[ONE]], %[[X]]
// CHECK:       %[[SECOND:.+]] = ad.mul %[[ONE]], %[[X]]
// CHECK:       %[[DX:.+]] = ad.add %[[FIRST]], %[[SECOND]]
// CHECK:       return %[[Y]], %[[DX]]
func.func @square(%x: tensor<f32>) -> tensor<f32> {
  %y = ad.mul %x, %x : tensor<f32>
  return %y : tensor<f32>
}
// CHECK-LABEL: func.func @twice(
// CHECK:       call @square__grad_0
// CHECK:       call @square__grad_0
// CHECK-NOT:   square__grad_0_
func.func @twice(%x: tensor<f32>) -> tensor<f32> {
  %y, %dx = ad.value_and_grad @square(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %z, %dz = ad.value_and_grad @square(%dx) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dz : tensor<f32>
}

// Calls are inlined, what the result does not depend on has no cotangent, and an argument without influence gets zeros.
// CHECK-LABEL: func.func private @calls__vjp_0_1(
// CHECK-SAME:    %[[X:[^ ,]+]]: tensor<f32>, %[[Z:[^ ,]+]]: tensor<2xf32>, %[[G:[^ ,]+]]: tensor<f32>)
// CHECK-NOT:   call @square
// CHECK:       %[[SLOPE:.+]] = ad.cos %[[X]]
// CHECK:       %[[DX:.+]] = ad.mul %{{.+}}, %[[SLOPE]]
// CHECK-NOT:   ad.exp
// CHECK:       %[[ZEROS:.+]] = ad.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK:       return %{{.+}}, %{{.+}}, %[[DX]], %[[ZEROS]]
func.func @calls(%x: tensor<f32>, %z: tensor<2xf32>) -> (tensor<f32>, tensor<i32>) {
  %s = ad.sin %x : tensor<f32>
  %dead = ad.exp %x : tensor<f32>
  %y = func.call @square(%s) : (tensor<f32>) -> tensor<f32>
  %n = ad.cast %x : tensor<f32> -> tensor<i32>
  return %y, %n : tensor<f32>, tensor<i32>
}
func.func @calls_request(%x: tensor<f32>, %z: tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {
  %y, %n, %dx, %dz = ad.vjp @calls(%x, %z) cotangents(%x) wrt [0, 1]
    : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<i32>, tensor<f32>, tensor<2xf32>)
  return %dx, %dz : tensor<f32>, tensor<2xf32>
}

// The gradient stops, also in the derivative of a derivative; then ad.stop_gradient is gone everywhere.
// CHECK-LABEL: func.func private @slope__grad_0(
// CHECK:       %[[ZERO:.+]] = ad.constant dense<0.000000e+00> : tensor<f32>
// CHECK:       return %{{.+}}, %[[ZERO]]
// CHECK-LABEL: func.func private @stopped__grad_0(
// CHECK-SAME:    %[[X:.+]]: tensor<f32>)
// CHECK:       %[[Y:.+]] = ad.mul %[[X]], %[[X]]
// CHECK:       %[[DX:.+]] = ad.mul %{{.+}}, %[[X]]
// CHECK-NEXT:  return %[[Y]], %[[DX]]
func.func @slope(%x: tensor<f32>) -> tensor<f32> {
  %y, %dx = ad.value_and_grad @stopped(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}
func.func @stopped(%x: tensor<f32>) -> tensor<f32> {
  %s = ad.stop_gradient %x : tensor<f32>
  %y = ad.mul %s, %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @curvature(%x: tensor<f32>) -> tensor<f32> {
  %y, %dx = ad.value_and_grad @slope(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// Only the first result is differentiated; the others are handed on.
// CHECK-LABEL: func.func private @aux__grad_0(
// CHECK-SAME:    -> (tensor<f32>, tensor<f32>, tensor<f32>)
// CHECK:       ad.exp
// CHECK-NOT:   ad.sin
// CHECK:       %[[A:.+]] = ad.cos
// CHECK-NOT:   ad.sin
// CHECK:       return
func.func @aux(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y = ad.exp %x : tensor<f32>
  %a = ad.cos %x : tensor<f32>
  return %y, %a : tensor<f32>, tensor<f32>
}
func.func @aux_request(%x: tensor<f32>) -> tensor<f32> {
  %y, %a, %dx = ad.value_and_grad @aux(%x) wrt [0] has_aux : (tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}
