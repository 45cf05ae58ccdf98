// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// The gradient of the gradient of x^3 is 6 x.
func.func private @cube(%x: tensor<f64>) -> tensor<f64> {
  %square = ad.mul %x, %x : tensor<f64>
  %y = ad.mul %square, %x : tensor<f64>
  return %y : tensor<f64>
}
func.func private @slope(%x: tensor<f64>) -> tensor<f64> {
  %y, %dx = ad.value_and_grad @cube(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %dx : tensor<f64>
}
func.func private @curvature(%x: tensor<f64>) -> tensor<f64> {
  %y, %dx = ad.value_and_grad @slope(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %dx : tensor<f64>
}

func.func @main() -> tensor<f64> {
  %input = ad.constant dense<7.0> : tensor<f64>
  %x = ad.barrier %input : tensor<f64>
  %curvature, %third = ad.value_and_grad @curvature(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %expected = ad.constant dense<42.0> : tensor<f64>
  %third_expected = ad.constant dense<6.0> : tensor<f64>
  check.expect_eq(%curvature, %expected) : tensor<f64>
  check.expect_eq(%third, %third_expected) : tensor<f64>
  return %curvature : tensor<f64>
}
