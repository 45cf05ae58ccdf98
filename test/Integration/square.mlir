// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// The square and its gradient, exact.
func.func private @square(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = ad.mul %x, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @main() -> tensor<2x3xf32> {
  %input = ad.constant dense<[[5.0, 6.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %x = ad.barrier %input : tensor<2x3xf32>
  %ones = ad.constant dense<1.0> : tensor<2x3xf32>
  %y, %dx = ad.vjp @square(%x) cotangents(%ones) wrt [0]
    : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %y_expected = ad.constant dense<[[25.0, 36.0, 9.0], [16.0, 25.0, 36.0]]> : tensor<2x3xf32>
  %dx_expected = ad.constant dense<[[10.0, 12.0, 6.0], [8.0, 10.0, 12.0]]> : tensor<2x3xf32>
  check.expect_eq(%y, %y_expected) : tensor<2x3xf32>
  check.expect_eq(%dx, %dx_expected) : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
