func.func @main(%x: tensor<64xf32> {ad.name = "x"}) -> (tensor<64xf32> {ad.name = "z"}) {
  %a = ad.constant dense<0.1> : tensor<64xf32>
  %b = ad.constant dense<0.3> : tensor<64xf32>
  %y = ad.mul %x, %a : tensor<64xf32>
  %z = ad.mul %y, %b : tensor<64xf32>
  return %z : tensor<64xf32>
}
