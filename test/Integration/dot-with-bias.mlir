// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// A matrix product with a bias, and the gradient of its sum.
func.func private @sum(%a: tensor<2x5xf32>, %b: tensor<5x3xf32>, %bias: tensor<3xf32>) -> tensor<f32> {
  %product = ad.dot %a, %b : (tensor<2x5xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
  %y = ad.add %product, %bias : tensor<2x3xf32>, tensor<3xf32>
  %s = ad.reduce_sum %y axes [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %s : tensor<f32>
}

func.func @main() -> tensor<f32> {
  %lhs = ad.constant dense<[[0.3367, 0.1288, 0.2345, 0.2303, -1.1229], [-0.1863, 2.2082, -0.6380, 0.4617, 0.2674]]>
    : tensor<2x5xf32>
  %rhs = ad.constant dense<[[0.5349, 0.8094, 1.1103], [-1.6898, -0.9890, 0.9580], [1.3221, 0.8172, -0.7658],
                            [-0.7506, 1.3525, 0.6863], [-0.3278, 0.7950, 0.2815]]> : tensor<5x3xf32>
  %shift = ad.constant dense<[0.0562, 0.5227, -0.2384]> : tensor<3xf32>
  %a, %b, %bias = ad.barrier %lhs, %rhs, %shift : tensor<2x5xf32>, tensor<5x3xf32>, tensor<3xf32>
  %s, %da, %db, %dbias = ad.value_and_grad @sum(%a, %b, %bias) wrt [0, 1, 2]
    : (tensor<2x5xf32>, tensor<5x3xf32>, tensor<3xf32>)
      -> (tensor<f32>, tensor<2x5xf32>, tensor<5x3xf32>, tensor<3xf32>)
  %gradient = ad.reduce_sum %da axes [0, 1] : tensor<2x5xf32> -> tensor<f32>
  %s_expected = ad.constant dense<-3.2747> : tensor<f32>
  %g_expected = ad.constant dense<8.2885> : tensor<f32>
  check.expect_almost_eq(%s, %s_expected) {tolerance = 2.0e-4 : f64} : tensor<f32>
  check.expect_almost_eq(%gradient, %g_expected) {tolerance = 2.0e-4 : f64} : tensor<f32>
  %db_expected = ad.constant dense<[[0.1504, 0.1504, 0.1504], [2.337, 2.337, 2.337], [-0.4035, -0.4035, -0.4035],
                                    [0.692, 0.692, 0.692], [-0.8555, -0.8555, -0.8555]]> : tensor<5x3xf32>
  %dbias_expected = ad.constant dense<2.0> : tensor<3xf32>
  check.expect_almost_eq(%db, %db_expected) : tensor<5x3xf32>
  check.expect_eq(%dbias, %dbias_expected) : tensor<3xf32>
  return %s : tensor<f32>
}
