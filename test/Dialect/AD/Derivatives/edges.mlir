// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Where derivatives do not exist the rules decide: values in closed form, exact.

// Equal operands share the cotangent.
func.func private @max_a1_tie(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %z = ad.max %x, %y : tensor<3xf32>
  return %z : tensor<3xf32>
}
// At 0 the slope is 0, also for -0.
func.func private @relu_a1_zero(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = ad.relu %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func private @abs_a1_zero(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = ad.abs %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
// At a limit the cotangent is the input's.
func.func private @clamp_a1_limit(%x: tensor<3xf32>, %low: tensor<f32>, %high: tensor<f32>) -> tensor<3xf32> {
  %y = ad.clamp %x, %low, %high : tensor<3xf32>, tensor<f32>, tensor<f32>
  return %y : tensor<3xf32>
}
// x^0 is constant; 0^y does not depend on y.
func.func private @pow_a1_zero(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %z = ad.pow %x, %y : tensor<3xf32>
  return %z : tensor<3xf32>
}
// The first of equal elements, in row-major order over both axes.
func.func private @reduce_max_a1_tie(%x: tensor<2x3xf32>) -> tensor<f32> {
  %y = ad.reduce_max %x axes [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %y : tensor<f32>
}
// +0 is larger than -0, NaN than all numbers; of equal ones the first has all of the cotangent.
func.func private @reduce_max_a1_order(%x: tensor<3x3xf32>) -> tensor<3xf32> {
  %y = ad.reduce_max %x axes [1] : tensor<3x3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func private @reduce_min_a1_order(%x: tensor<3x3xf32>) -> tensor<3xf32> {
  %y = ad.reduce_min %x axes [1] : tensor<3x3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// One zero: only its own derivative is left. Two zeros: none.
func.func private @reduce_prod_a1_zero(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %y = ad.reduce_prod %x axes [1] : tensor<2x3xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @main() -> tensor<3xf32> {
  %a_data = ad.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b_data = ad.constant dense<[1.0, 3.0, 2.0]> : tensor<3xf32>
  %zeros_data = ad.constant dense<[-0.0, 0.0, 2.0]> : tensor<3xf32>
  %a, %b, %zeros = ad.barrier %a_data, %b_data, %zeros_data : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  %g = ad.constant dense<[2.0, 4.0, 8.0]> : tensor<3xf32>

  %max, %max_da, %max_db = ad.vjp @max_a1_tie(%a, %b) cotangents(%g) wrt [0, 1]
    : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %max_da_expected = ad.constant dense<[1.0, 0.0, 8.0]> : tensor<3xf32>
  %max_db_expected = ad.constant dense<[1.0, 4.0, 0.0]> : tensor<3xf32>
  check.expect_eq(%max_da, %max_da_expected) : tensor<3xf32>
  check.expect_eq(%max_db, %max_db_expected) : tensor<3xf32>

  %last = ad.constant dense<[0.0, 0.0, 8.0]> : tensor<3xf32>
  %relu, %relu_dx = ad.vjp @relu_a1_zero(%zeros) cotangents(%g) wrt [0]
    : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  check.expect_eq(%relu_dx, %last) : tensor<3xf32>
  %abs, %abs_dx = ad.vjp @abs_a1_zero(%zeros) cotangents(%g) wrt [0]
    : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  check.expect_almost_eq(%abs_dx, %last) {tolerance = 0.0 : f64} : tensor<3xf32>

  %low = ad.constant dense<1.0> : tensor<f32>
  %high = ad.constant dense<2.0> : tensor<f32>
  %clamp, %clamp_dx, %clamp_dhigh = ad.vjp @clamp_a1_limit(%a, %low, %high) cotangents(%g) wrt [0, 2]
    : (tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>)
  %clamp_dx_expected = ad.constant dense<[2.0, 4.0, 0.0]> : tensor<3xf32>
  %clamp_dhigh_expected = ad.constant dense<8.0> : tensor<f32>
  check.expect_eq(%clamp_dx, %clamp_dx_expected) : tensor<3xf32>
  check.expect_eq(%clamp_dhigh, %clamp_dhigh_expected) : tensor<f32>

  %exponent = ad.constant dense<[0.0, 3.0, 1.0]> : tensor<3xf32>
  %pow, %pow_dx, %pow_dy = ad.vjp @pow_a1_zero(%zeros, %exponent) cotangents(%g) wrt [0, 1]
    : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %pow_dy_expected = ad.constant dense<[0.0, 0.0, 11.0903549]> : tensor<3xf32>
  check.expect_eq(%pow_dx, %last) : tensor<3xf32>
  check.expect_almost_eq(%pow_dy, %pow_dy_expected) : tensor<3xf32>

  %one = ad.constant dense<1.0> : tensor<f32>
  %matrix_data = ad.constant dense<[[1.0, 5.0, 3.0], [5.0, 2.0, 5.0]]> : tensor<2x3xf32>
  %matrix = ad.barrier %matrix_data : tensor<2x3xf32>
  %top, %top_dx = ad.vjp @reduce_max_a1_tie(%matrix) cotangents(%one) wrt [0]
    : (tensor<2x3xf32>, tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>)
  %top_dx_expected = ad.constant dense<[[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  check.expect_eq(%top_dx, %top_dx_expected) : tensor<2x3xf32>

  %order_data = ad.constant dense<[[-0.0, 0.0, -0.0], [1.0, 0x7FC00000, 0x7FC00000], [-1.0, -1.0, -1.0]]> : tensor<3x3xf32>
  %order = ad.barrier %order_data : tensor<3x3xf32>
  %largest, %largest_dx = ad.vjp @reduce_max_a1_order(%order) cotangents(%g) wrt [0]
    : (tensor<3x3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>)
  %largest_expected = ad.constant dense<[0.0, 0x7FC00000, -1.0]> : tensor<3xf32>
  %largest_dx_expected = ad.constant dense<[[0.0, 2.0, 0.0], [0.0, 4.0, 0.0], [8.0, 0.0, 0.0]]> : tensor<3x3xf32>
  check.expect_eq(%largest, %largest_expected) : tensor<3xf32>
  check.expect_eq(%largest_dx, %largest_dx_expected) : tensor<3x3xf32>
  %smallest, %smallest_dx = ad.vjp @reduce_min_a1_order(%order) cotangents(%g) wrt [0]
    : (tensor<3x3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>)
  %smallest_expected = ad.constant dense<[-0.0, 0x7FC00000, -1.0]> : tensor<3xf32>
  %smallest_dx_expected = ad.constant dense<[[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [8.0, 0.0, 0.0]]> : tensor<3x3xf32>
  check.expect_eq(%smallest, %smallest_expected) : tensor<3xf32>
  check.expect_eq(%smallest_dx, %smallest_dx_expected) : tensor<3x3xf32>

  %product_data = ad.constant dense<[[2.0, 0.0, 3.0], [0.0, 2.0, 0.0]]> : tensor<2x3xf32>
  %factors = ad.barrier %product_data : tensor<2x3xf32>
  %ones = ad.constant dense<1.0> : tensor<2xf32>
  %product, %product_dx = ad.vjp @reduce_prod_a1_zero(%factors) cotangents(%ones) wrt [0]
    : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  %product_dx_expected = ad.constant dense<[[0.0, 6.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  check.expect_eq(%product_dx, %product_dx_expected) : tensor<2x3xf32>
  return %max : tensor<3xf32>
}
