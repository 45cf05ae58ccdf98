func.func @main(%x: tensor<3xf32> {ad.name = "x"}) -> (tensor<3xf32> {ad.name = "y"}) {
  %large = ad.constant dense<1.0e8> : tensor<f32>
  %sum = ad.add %x, %large : tensor<3xf32>, tensor<f32>
  %y = ad.sub %sum, %large : tensor<3xf32>, tensor<f32>
  return %y : tensor<3xf32>
}
