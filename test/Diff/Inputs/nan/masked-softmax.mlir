// The mask of row 1 excludes everything: the largest score is an infinity, and inf - inf is NaN.
func.func @main(%scores: tensor<2x3xf32> {ad.name = "scores"}) -> (tensor<2x3xf32> {ad.name = "p"}) {
  %mask = ad.constant dense<[[0.0, 0.0, 0xFF800000], [0xFF800000, 0xFF800000, 0xFF800000]]> : tensor<2x3xf32>
  %masked = ad.add %scores, %mask : tensor<2x3xf32>
  %largest = ad.reduce_max %masked axes [1] keep_dims : tensor<2x3xf32> -> tensor<2x1xf32>
  %shifted = ad.sub %masked, %largest : tensor<2x3xf32>, tensor<2x1xf32>
  %exponentials = ad.exp %shifted : tensor<2x3xf32>
  %sum = ad.reduce_sum %exponentials axes [1] keep_dims : tensor<2x3xf32> -> tensor<2x1xf32>
  %p = ad.div %exponentials, %sum : tensor<2x3xf32>, tensor<2x1xf32>
  return %p : tensor<2x3xf32>
}
