func.func @main(%x: tensor<3xf16> {ad.name = "x"}, %c: tensor<i1> {ad.name = "c"})
    -> (tensor<3xf16> {ad.name = "y"}, tensor<3xf32> {ad.name = "z"}, tensor<3xf32> {ad.name = "w"}) {
  %limits = ad.constant dense<[1.0, 1.0e6, 3.0]> : tensor<3xf32>
  %small = ad.cast %limits : tensor<3xf32> -> tensor<3xf16>
  %y = ad.add %x, %small : tensor<3xf16>
  %counts = ad.constant dense<[0, 70000, 2]> : tensor<3xi32>
  %many = ad.cast %counts : tensor<3xi32> -> tensor<3xf16>
  %wide = ad.cast %many : tensor<3xf16> -> tensor<3xf32>
  %one = ad.constant dense<1.0> : tensor<3xf32>
  %z = ad.div %one, %wide : tensor<3xf32>, tensor<3xf32>
  %condition = tensor.extract %c[] : tensor<i1>
  %w = scf.if %condition -> tensor<3xf32> {
    %root = ad.constant dense<-1.0> : tensor<3xf32>
    %nan = ad.sqrt %root : tensor<3xf32>
    scf.yield %nan : tensor<3xf32>
  } else {
    scf.yield %one : tensor<3xf32>
  }
  return %y, %z, %w : tensor<3xf16>, tensor<3xf32>, tensor<3xf32>
}
