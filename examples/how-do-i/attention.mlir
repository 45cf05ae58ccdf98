// Causal attention of 4 heads, of which 2 share their keys and values, and its gradient. Scores are computed in blocks.

func.func private @loss(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) -> tensor<f32> {
  %y, %log_sum = ad.attention %q, %k, %v causal : tensor<1x4x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>
  %square = ad.mul %y, %y : tensor<1x4x6x8xf32>
  %loss = ad.reduce_sum %square axes [0, 1, 2, 3] : tensor<1x4x6x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%q: tensor<1x4x6x8xf32> {ad.name = "q"}, %k: tensor<1x2x6x8xf32> {ad.name = "k"},
                %v: tensor<1x2x6x8xf32> {ad.name = "v"})
    -> (tensor<f32> {ad.name = "loss"}, tensor<1x2x6x8xf32> {ad.name = "dk"}) {
  %loss, %dk = ad.value_and_grad @loss(%q, %k, %v) wrt [1]
      : (tensor<1x4x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> (tensor<f32>, tensor<1x2x6x8xf32>)
  return %loss, %dk : tensor<f32>, tensor<1x2x6x8xf32>
}
