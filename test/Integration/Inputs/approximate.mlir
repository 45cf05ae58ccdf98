func.func @main(%x: tensor<1000xf32> {ad.name = "x"}) -> (tensor<1000xf32> {ad.name = "tanh"}, tensor<1000xf32> {ad.name = "erf"}, tensor<1000xf32> {ad.name = "sigmoid"}, tensor<1000xf32> {ad.name = "gelu"}) {
  %t = ad.tanh %x : tensor<1000xf32>
  %e = ad.erf %x : tensor<1000xf32>
  %s = ad.sigmoid %x : tensor<1000xf32>
  %g = ad.gelu %x : tensor<1000xf32>
  return %t, %e, %s, %g : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
}
