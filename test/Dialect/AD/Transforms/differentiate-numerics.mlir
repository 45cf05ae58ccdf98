// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// Generated operations have the numerics that the function names for its derivative; copied operations keep theirs.
module attributes {ad.numerics = #ad.numerics<strict>} {
  // CHECK-LABEL: func.func private @f__grad_0(
  // CHECK-SAME:    ad.adjoint_numerics = #ad.numerics<fast>
  // CHECK:       ad.sin %{{.+}} {allow = #ad.allow<none>} : tensor<f32>
  // CHECK:       %[[SLOPE:.+]] = ad.cos %{{.+}} {allow = #ad.allow<reorder|algebra|contract|widen|mma|approx>}
  // CHECK:       ad.mul %{{.+}}, %[[SLOPE]] {allow = #ad.allow<reorder|algebra|contract|widen|mma|approx>}
  func.func @f(%x: tensor<f32>) -> tensor<f32> attributes {ad.adjoint_numerics = #ad.numerics<fast>} {
    %y = ad.sin %x {allow = #ad.allow<none>} : tensor<f32>
    return %y : tensor<f32>
  }
  // The module's mode is left to ad-set-numerics.
  // CHECK-LABEL: func.func private @g__grad_0(
  // CHECK:       ad.cos %{{.+}} : tensor<f32>
  func.func @g(%x: tensor<f32>) -> tensor<f32> {
    %y = ad.sin %x : tensor<f32>
    return %y : tensor<f32>
  }
  func.func @requests(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %y, %dx = ad.value_and_grad @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %z, %dz = ad.value_and_grad @g(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    return %dx, %dz : tensor<f32>, tensor<f32>
  }
}
