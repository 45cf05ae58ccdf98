// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Cross entropy and its gradient, with a class number and with probabilities.
func.func private @by_class(%logits: tensor<1x3xf32>, %label: tensor<1xi32>) -> tensor<f32> {
  %rows = ad.cross_entropy %logits, %label : tensor<1x3xf32>, tensor<1xi32> -> tensor<1xf32>
  %loss = ad.reduce_mean %rows axes [0] : tensor<1xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func private @by_probability(%logits: tensor<1x3xf32>, %labels: tensor<1x3xf32>) -> tensor<f32> {
  %rows = ad.cross_entropy %logits, %labels : tensor<1x3xf32>, tensor<1x3xf32> -> tensor<1xf32>
  %loss = ad.reduce_mean %rows axes [0] : tensor<1xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main() -> tensor<f32> {
  %input = ad.constant dense<[[0.3, 0.6, 0.9]]> : tensor<1x3xf32>
  %class = ad.constant dense<0> : tensor<1xi32>
  %one_hot = ad.constant dense<[[1.0, 0.0, 0.0]]> : tensor<1x3xf32>
  %logits, %label, %labels = ad.barrier %input, %class, %one_hot : tensor<1x3xf32>, tensor<1xi32>, tensor<1x3xf32>
  %a, %da = ad.value_and_grad @by_class(%logits, %label) wrt [0]
    : (tensor<1x3xf32>, tensor<1xi32>) -> (tensor<f32>, tensor<1x3xf32>)
  %b, %db = ad.value_and_grad @by_probability(%logits, %labels) wrt [0]
    : (tensor<1x3xf32>, tensor<1x3xf32>) -> (tensor<f32>, tensor<1x3xf32>)
  %loss = ad.constant dense<1.42839> : tensor<f32>
  %gradient = ad.constant dense<[[-0.760306, 0.323554, 0.436752]]> : tensor<1x3xf32>
  check.expect_almost_eq(%a, %loss) {tolerance = 1.0e-5 : f64} : tensor<f32>
  check.expect_almost_eq(%b, %loss) {tolerance = 1.0e-5 : f64} : tensor<f32>
  check.expect_almost_eq(%da, %gradient) : tensor<1x3xf32>
  check.expect_almost_eq(%db, %gradient) : tensor<1x3xf32>

  // Each row reads its own class.
  %three = ad.constant dense<[[0.3, 0.6, 0.9], [0.6, 0.9, 0.3], [0.9, 0.3, 0.6]]> : tensor<3x3xf32>
  %numbers = ad.constant dense<[2, 0, 1]> : tensor<3xi32>
  %rows, %classes = ad.barrier %three, %numbers : tensor<3x3xf32>, tensor<3xi32>
  %losses = ad.cross_entropy %rows, %classes : tensor<3x3xf32>, tensor<3xi32> -> tensor<3xf32>
  %expected = ad.constant dense<[0.82839, 1.12839, 1.42839]> : tensor<3xf32>
  check.expect_almost_eq(%losses, %expected) {tolerance = 1.0e-5 : f64} : tensor<3xf32>
  return %a : tensor<f32>
}
