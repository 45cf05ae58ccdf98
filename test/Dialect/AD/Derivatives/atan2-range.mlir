// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Where x^2 + y^2 overflows or underflows in f32 the gradient is still that of the closed form, here in f64.
func.func private @atan2_a1_range(%y: tensor<12xf32>, %x: tensor<12xf32>) -> tensor<12xf32> {
  %z = ad.atan2 %y, %x : tensor<12xf32>, tensor<12xf32>
  return %z : tensor<12xf32>
}
// At the origin there is no gradient; an infinite operand decides the angle.
func.func private @atan2_a1_edges(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %z = ad.atan2 %y, %x : tensor<4xf32>, tensor<4xf32>
  return %z : tensor<4xf32>
}

func.func @main() {
  %y_data = ad.constant dense<[1.0e-30, -1.0e-30, 2.0e-30, 1.0e30, -1.0e30, 3.0e30, 1.0e-30, 1.0e30, 1.0e20, -3.0, 0.0, 2.0e-19]> : tensor<12xf32>
  %x_data = ad.constant dense<[1.0e-30, 3.0e-30, -1.0e-30, 1.0e30, 2.0e30, -1.0e30, 1.0, 1.0, -1.0e5, 4.0, -1.0e-30, 5.0e-19]> : tensor<12xf32>
  %y, %x = ad.barrier %y_data, %x_data : tensor<12xf32>, tensor<12xf32>
  %g = ad.constant dense<2.0> : tensor<12xf32>
  %z, %dy, %dx = ad.vjp @atan2_a1_range(%y, %x) cotangents(%g) wrt [0, 1]
    : (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>)

  %y64 = ad.cast %y : tensor<12xf32> -> tensor<12xf64>
  %x64 = ad.cast %x : tensor<12xf32> -> tensor<12xf64>
  %g64 = ad.cast %g : tensor<12xf32> -> tensor<12xf64>
  %yy = ad.mul %y64, %y64 : tensor<12xf64>, tensor<12xf64>
  %xx = ad.mul %x64, %x64 : tensor<12xf64>, tensor<12xf64>
  %squares = ad.add %xx, %yy : tensor<12xf64>, tensor<12xf64>
  %scaled = ad.div %g64, %squares : tensor<12xf64>, tensor<12xf64>
  %slope_y = ad.mul %scaled, %x64 : tensor<12xf64>, tensor<12xf64>
  %slope_x = ad.mul %scaled, %y64 : tensor<12xf64>, tensor<12xf64>
  %minus_slope_x = ad.neg %slope_x : tensor<12xf64>
  %dy_expected = ad.cast %slope_y : tensor<12xf64> -> tensor<12xf32>
  %dx_expected = ad.cast %minus_slope_x : tensor<12xf64> -> tensor<12xf32>
  check.expect_almost_eq(%dy, %dy_expected) {relative, tolerance = 5.0e-7 : f64} : tensor<12xf32>
  check.expect_almost_eq(%dx, %dx_expected) {relative, tolerance = 5.0e-7 : f64} : tensor<12xf32>

  %edge_y_data = ad.constant dense<[0.0, 1.0, 0x7F800000, 0x7F800000]> : tensor<4xf32>
  %edge_x_data = ad.constant dense<[0.0, 0x7F800000, -1.0, 0x7F800000]> : tensor<4xf32>
  %edge_y, %edge_x = ad.barrier %edge_y_data, %edge_x_data : tensor<4xf32>, tensor<4xf32>
  %one = ad.constant dense<1.0> : tensor<4xf32>
  %edge, %edge_dy, %edge_dx = ad.vjp @atan2_a1_edges(%edge_y, %edge_x) cotangents(%one) wrt [0, 1]
    : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %edge_expected = ad.constant dense<[0x7FC00000, 0.0, 0.0, 0x7FC00000]> : tensor<4xf32>
  check.expect_almost_eq(%edge_dy, %edge_expected) {tolerance = 0.0 : f64} : tensor<4xf32>
  check.expect_almost_eq(%edge_dx, %edge_expected) {tolerance = 0.0 : f64} : tensor<4xf32>
  return
}
