// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Concatenation, exact.
func.func private @joined(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %two = ad.constant dense<2.0> : tensor<f32>
  %three = ad.constant dense<3.0> : tensor<f32>
  %left = ad.mul %x, %two : tensor<2x4xf32>, tensor<f32>
  %right = ad.mul %y, %three : tensor<2x4xf32>, tensor<f32>
  %z = ad.concat axis 1 %left, %right : tensor<2x4xf32>, tensor<2x4xf32>
  return %z : tensor<2x8xf32>
}

func.func @main() -> tensor<2x8xf32> {
  %a = ad.constant dense<[[5.0, 6.0, 3.0, 1.0], [4.0, 5.0, 6.0, 3.0]]> : tensor<2x4xf32>
  %b = ad.constant dense<[[8.0, 9.0, 3.0, 6.0], [3.0, 5.0, 4.0, 2.0]]> : tensor<2x4xf32>
  %x, %y = ad.barrier %a, %b : tensor<2x4xf32>, tensor<2x4xf32>
  %ones = ad.constant dense<1.0> : tensor<2x8xf32>
  %z, %dx, %dy = ad.vjp @joined(%x, %y) cotangents(%ones) wrt [0, 1]
    : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %z_expected = ad.constant dense<[[10.0, 12.0, 6.0, 2.0, 24.0, 27.0, 9.0, 18.0],
                                   [8.0, 10.0, 12.0, 6.0, 9.0, 15.0, 12.0, 6.0]]> : tensor<2x8xf32>
  check.expect_eq(%z, %z_expected) : tensor<2x8xf32>
  %sum_x = ad.reduce_sum %dx axes [0, 1] : tensor<2x4xf32> -> tensor<f32>
  %sum_y = ad.reduce_sum %dy axes [0, 1] : tensor<2x4xf32> -> tensor<f32>
  %x_expected = ad.constant dense<16.0> : tensor<f32>
  %y_expected = ad.constant dense<24.0> : tensor<f32>
  check.expect_eq(%sum_x, %x_expected) : tensor<f32>
  check.expect_eq(%sum_y, %y_expected) : tensor<f32>
  return %z : tensor<2x8xf32>
}
