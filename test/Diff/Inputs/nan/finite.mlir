func.func @main(%x: tensor<4xf32> {ad.name = "x"}) -> (tensor<4xf32> {ad.name = "y"}) {
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
