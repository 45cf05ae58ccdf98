func.func @main(%x: tensor<4x8xf32> {ad.name = "x"}, %w: tensor<8x2xf32> {ad.name = "w"})
    -> (tensor<4x2xf32> {ad.name = "z"}) {
  %half = ad.constant dense<0.5> : tensor<f32>
  %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %scaled = ad.mul %y, %half : tensor<4x2xf32>, tensor<f32>
  %z = ad.tanh %scaled : tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}
