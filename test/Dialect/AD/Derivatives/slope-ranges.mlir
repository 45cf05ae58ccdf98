// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference --cache off %s
// RUN: ad-runner --target cpu --cache off %s
// RUN: ad-runner --target gpu-sim --cache off %s

// Gradients whose slope leaves the range of f32 although the product with the cotangent does not: values in closed
// form.
func.func private @recip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.recip %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @quotient(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = ad.constant dense<1.0> : tensor<f32>
  %y = ad.div %one, %x : tensor<f32>, tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @rsqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.rsqrt %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// The limits are 1 on the right and 0 on the left.
func.func private @gelu_tanh(%x: tensor<6xf32>) -> tensor<6xf32> {
  %y = ad.gelu %x form tanh : tensor<6xf32>
  return %y : tensor<6xf32>
}
func.func private @gelu(%x: tensor<6xf32>) -> tensor<6xf32> {
  %y = ad.gelu %x : tensor<6xf32>
  return %y : tensor<6xf32>
}
func.func private @silu(%x: tensor<6xf32>) -> tensor<6xf32> {
  %y = ad.silu %x : tensor<6xf32>
  return %y : tensor<6xf32>
}
func.func private @softplus(%x: tensor<6xf32>) -> tensor<6xf32> {
  %y = ad.softplus %x : tensor<6xf32>
  return %y : tensor<6xf32>
}
// Rows of ignored classes: padding with -inf, a logit that overflowed, NaN.
func.func private @loss(%z: tensor<4x3xf32>, %c: tensor<4xi32>) -> tensor<4xf32> {
  %l = ad.cross_entropy %z, %c : tensor<4x3xf32>, tensor<4xi32> -> tensor<4xf32>
  return %l : tensor<4xf32>
}
// The slope at 0 of the derivative: that of softplus is 1/4, that of x^2 is 2.
func.func private @softplus_slope(%x: tensor<f32>) -> tensor<f32> {
  %one = ad.constant dense<1.0> : tensor<f32>
  %y, %dx = ad.vjp @softplus_scalar(%x) cotangents(%one) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}
func.func private @softplus_scalar(%x: tensor<f32>) -> tensor<f32> {
  %y = ad.softplus %x : tensor<f32>
  return %y : tensor<f32>
}
func.func private @square_slope(%x: tensor<f32>) -> tensor<f32> {
  %one = ad.constant dense<1.0> : tensor<f32>
  %y, %dx = ad.vjp @square_scalar(%x) cotangents(%one) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}
func.func private @square_scalar(%x: tensor<f32>) -> tensor<f32> {
  %two_data = ad.constant dense<2.0> : tensor<f32>
  %two = ad.barrier %two_data : tensor<f32>
  %y = ad.pow %x, %two : tensor<f32>
  return %y : tensor<f32>
}

func.func @main() -> tensor<f32> {
  %x_data = ad.constant dense<[1.0e-20, 1.0e20, 1.0e-25, 1.0e25]> : tensor<4xf32>
  %g_data = ad.constant dense<[1.0e-10, 1.0e15, 1.0e-20, 1.0e30]> : tensor<4xf32>
  %r_data = ad.constant dense<[1.0e-30, 1.0e30, 1.0e-28, 1.0e32]> : tensor<4xf32>
  %x, %g, %r = ad.barrier %x_data, %g_data, %r_data : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %a, %da = ad.vjp @recip(%x) cotangents(%g) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %b, %db = ad.vjp @quotient(%x) cotangents(%g) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %c, %dc = ad.vjp @rsqrt(%r) cotangents(%g) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %da_expected = ad.constant dense<[-1.0e30, -1.0e-25, -1.0e30, -1.0e-20]> : tensor<4xf32>
  %dc_expected = ad.constant dense<[-5.0e34, -5.0e-31, -5.0e21, -5.0e-19]> : tensor<4xf32>
  check.expect_almost_eq(%da, %da_expected) {relative, tolerance = 5.0e-7 : f64} : tensor<4xf32>
  check.expect_almost_eq(%db, %da_expected) {relative, tolerance = 5.0e-7 : f64} : tensor<4xf32>
  check.expect_almost_eq(%dc, %dc_expected) {relative, tolerance = 5.0e-7 : f64} : tensor<4xf32>

  %far_data = ad.constant dense<[1.0e18, 2.0e19, 1.0e30, -2.0e19, 0x7F800000, 0xFF800000]> : tensor<6xf32>
  %far = ad.barrier %far_data : tensor<6xf32>
  %ones = ad.constant dense<1.0> : tensor<6xf32>
  %d, %dd = ad.vjp @gelu_tanh(%far) cotangents(%ones) wrt [0] : (tensor<6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %e, %de = ad.vjp @gelu(%far) cotangents(%ones) wrt [0] : (tensor<6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %f, %df = ad.vjp @silu(%far) cotangents(%ones) wrt [0] : (tensor<6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %h, %dh = ad.vjp @softplus(%far) cotangents(%ones) wrt [0] : (tensor<6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %tails = ad.constant dense<[1.0, 1.0, 1.0, 0.0, 1.0, 0.0]> : tensor<6xf32>
  check.expect_almost_eq(%dd, %tails) {tolerance = 0.0 : f64} : tensor<6xf32>
  check.expect_almost_eq(%de, %tails) {tolerance = 0.0 : f64} : tensor<6xf32>
  check.expect_almost_eq(%df, %tails) {tolerance = 0.0 : f64} : tensor<6xf32>
  check.expect_almost_eq(%dh, %tails) {tolerance = 0.0 : f64} : tensor<6xf32>

  %z_data = ad.constant dense<[[0.0, 0.0, 0.0], [0xFF800000, 0xFF800000, 0xFF800000], [0x7F800000, 0.0, 0.0], [0x7FC00000, 0.0, 1.0]]> : tensor<4x3xf32>
  %c_data = ad.constant dense<[1, -1, -3, -100]> : tensor<4xi32>
  // The cotangent of an ignored row may be anything, too.
  %k_data = ad.constant dense<[3.0, 3.0, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  %z, %classes, %k = ad.barrier %z_data, %c_data, %k_data : tensor<4x3xf32>, tensor<4xi32>, tensor<4xf32>
  %l, %dz = ad.vjp @loss(%z, %classes) cotangents(%k) wrt [0] : (tensor<4x3xf32>, tensor<4xi32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x3xf32>)
  %dz_expected = ad.constant dense<[[1.0, -2.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<4x3xf32>
  check.expect_almost_eq(%dz, %dz_expected) : tensor<4x3xf32>

  %zero_data = ad.constant dense<0.0> : tensor<f32>
  %one = ad.constant dense<1.0> : tensor<f32>
  %zero = ad.barrier %zero_data : tensor<f32>
  %s, %second = ad.vjp @softplus_slope(%zero) cotangents(%one) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %t, %bend = ad.vjp @square_slope(%zero) cotangents(%one) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %quarter = ad.constant dense<0.25> : tensor<f32>
  %two = ad.constant dense<2.0> : tensor<f32>
  check.expect_almost_eq(%second, %quarter) : tensor<f32>
  check.expect_almost_eq(%bend, %two) : tensor<f32>
  return %second : tensor<f32>
}
