// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Sums of unary operations and of their gradient.
// r = 2^x + 3; y = sin(-2.5 / sqrt(r) + log2(r)); z = 2^x where x > 0.5.
func.func private @sums(%x: tensor<2x4xf32>) -> (tensor<f32>, tensor<f32>) {
  %three = ad.constant dense<3.0> : tensor<f32>
  %half = ad.constant dense<0.5> : tensor<f32>
  %factor = ad.constant dense<-2.5> : tensor<f32>
  %zero = ad.constant dense<0.0> : tensor<f32>
  %power = ad.exp2 %x : tensor<2x4xf32>
  %r = ad.add %power, %three : tensor<2x4xf32>, tensor<f32>
  %root = ad.sqrt %r : tensor<2x4xf32>
  %inverse = ad.recip %root : tensor<2x4xf32>
  %scaled = ad.mul %inverse, %factor : tensor<2x4xf32>, tensor<f32>
  %log = ad.log2 %r : tensor<2x4xf32>
  %angle = ad.add %scaled, %log : tensor<2x4xf32>
  %y = ad.sin %angle : tensor<2x4xf32>
  %above = ad.compare gt %x, %half : tensor<2x4xf32>, tensor<f32>
  %z = ad.select %above, %power, %zero : tensor<2x4xi1>, tensor<2x4xf32>, tensor<f32>
  %a = ad.reduce_sum %y axes [0, 1] : tensor<2x4xf32> -> tensor<f32>
  %b = ad.reduce_sum %z axes [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}

func.func @main() -> tensor<f32> {
  %input = ad.constant dense<[[0.3, 0.2, 0.7, 0.54], [0.13, 0.77, 0.23, 0.22]]> : tensor<2x4xf32>
  %x = ad.barrier %input : tensor<2x4xf32>
  %one = ad.constant dense<1.0> : tensor<f32>
  %a, %b, %dx = ad.vjp @sums(%x) cotangents(%one, %one) wrt [0]
    : (tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<2x4xf32>)
  %gradient = ad.reduce_sum %dx axes [0, 1] : tensor<2x4xf32> -> tensor<f32>
  %a_expected = ad.constant dense<6.2689> : tensor<f32>
  %b_expected = ad.constant dense<4.78375> : tensor<f32>
  %g_expected = ad.constant dense<5.39896> : tensor<f32>
  check.expect_almost_eq(%a, %a_expected) {tolerance = 1.0e-5 : f64} : tensor<f32>
  check.expect_almost_eq(%b, %b_expected) {tolerance = 1.0e-5 : f64} : tensor<f32>
  check.expect_almost_eq(%gradient, %g_expected) {tolerance = 1.0e-5 : f64} : tensor<f32>
  return %gradient : tensor<f32>
}
