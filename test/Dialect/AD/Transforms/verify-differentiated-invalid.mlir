// RUN: ad-opt %s --ad-verify-differentiated --verify-diagnostics

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'ad.stop_gradient' op is a differentiation operation; run --ad-to-cpu-frontend first, or --ad-differentiate alone}}
  %y = ad.stop_gradient %x : tensor<f32>
  return %y : tensor<f32>
}

func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  // expected-error @+1 {{'ad.value_and_grad' op is a differentiation operation; run --ad-to-cpu-frontend first, or --ad-differentiate alone}}
  %y, %dx = ad.value_and_grad @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // expected-error @+1 {{'ad.vjp' op is a differentiation operation; run --ad-to-cpu-frontend first, or --ad-differentiate alone}}
  %z, %dz = ad.vjp @f(%x) cotangents(%y) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y, %dx, %dz : tensor<f32>, tensor<f32>, tensor<f32>
}
