// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Layer normalization: the first result, and the first gradients of bias and scale.
func.func private @norm(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = ad.layer_norm %x, %scale, %bias epsilon 1.0e-5 : tensor<2x3xf32>, tensor<3xf32>
  return %y : tensor<2x3xf32>
}

func.func @main() -> tensor<2x3xf32> {
  %input = ad.constant dense<[[5.0, 6.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %one = ad.constant dense<1.0> : tensor<3xf32>
  %zero = ad.constant dense<0.0> : tensor<3xf32>
  %x, %scale, %bias = ad.barrier %input, %one, %zero : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
  %ones = ad.constant dense<1.0> : tensor<2x3xf32>
  %y, %dx, %dscale, %dbias = ad.vjp @norm(%x, %scale, %bias) cotangents(%ones) wrt [0, 1, 2]
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>)
      -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %y_expected = ad.constant dense<[[0.26726, 1.06904, -1.33630], [-1.22474, 0.0, 1.22474]]> : tensor<2x3xf32>
  %dscale_expected = ad.constant dense<[-0.95748, 1.06904, -0.11157]> : tensor<3xf32>
  %dbias_expected = ad.constant dense<2.0> : tensor<3xf32>
  // Rows that are shifted alike stay the same, so the gradient of a sum is zero.
  %dx_expected = ad.constant dense<0.0> : tensor<2x3xf32>
  check.expect_almost_eq(%y, %y_expected) {tolerance = 1.0e-5 : f64} : tensor<2x3xf32>
  check.expect_almost_eq(%dscale, %dscale_expected) {tolerance = 1.0e-5 : f64} : tensor<3xf32>
  check.expect_almost_eq(%dbias, %dbias_expected) : tensor<3xf32>
  check.expect_almost_eq(%dx, %dx_expected) : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
