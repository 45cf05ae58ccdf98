func.func @loss(%w: tensor<8x4xf32>, %x: tensor<4x8xf32>) -> tensor<f32> {
  %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %square = ad.mul %y, %y : tensor<4x4xf32>
  %sum = ad.reduce_sum %square axes [0, 1] : tensor<4x4xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
func.func @main(%w: tensor<8x4xf32> {ad.name = "w"}, %x: tensor<4x8xf32> {ad.name = "x"}) -> (tensor<8x4xf32> {ad.name = "g"}) {
  %loss, %g = ad.value_and_grad @loss(%w, %x) wrt [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> (tensor<f32>, tensor<8x4xf32>)
  return %g : tensor<8x4xf32>
}
