func.func @main(%x: tensor<3xf32> {ad.name = "x"}) -> (tensor<3xf32> {ad.name = "y"}) {
  %one = ad.constant dense<1.0> : tensor<3xf32>
  %a = ad.log %x : tensor<3xf32>
  %b = ad.sub %a, %one : tensor<3xf32>
  %y = ad.sqrt %b : tensor<3xf32>
  return %y : tensor<3xf32>
}
