// The values and the gradient of ad.softsign, which softsign.patch adds: x / (1 + |x|) and 1 / (1 + |x|)^2. All numbers are exact.
func.func private @softsign(%x: tensor<6xf32>) -> tensor<6xf32> {
  %y = ad.softsign %x : tensor<6xf32>
  return %y : tensor<6xf32>
}

func.func @main(%x: tensor<6xf32> {ad.name = "x"}) -> tensor<6xf32> {
  %ones = ad.constant dense<1.0> : tensor<6xf32>
  %y:2 = ad.vjp @softsign(%x) cotangents(%ones) wrt [0] : (tensor<6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %value = ad.constant dense<[0.0, 0.5, -0.5, 0.75, -0.75, 0.875]> : tensor<6xf32>
  %slope = ad.constant dense<[1.0, 0.25, 0.25, 0.0625, 0.0625, 0.015625]> : tensor<6xf32>
  check.expect_eq(%y#0, %value) : tensor<6xf32>
  check.expect_eq(%y#1, %slope) : tensor<6xf32>
  return %y#0 : tensor<6xf32>
}
