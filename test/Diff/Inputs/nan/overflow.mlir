// 300 * 300 is no f16. The infinity becomes a NaN in the subtraction; 0/0 is another origin.
func.func @square(%x: tensor<3xf16>) -> tensor<3xf16> {
  %square = ad.mul %x, %x : tensor<3xf16>
  return %square : tensor<3xf16>
}
func.func @main(%x: tensor<3xf16> {ad.name = "x"}) -> (tensor<3xf16> {ad.name = "y"}, tensor<3xf16> {ad.name = "z"}) {
  %c = ad.constant dense<300.0> : tensor<f16>
  %scaled = ad.mul %x, %c : tensor<3xf16>, tensor<f16>
  %square = func.call @square(%scaled) : (tensor<3xf16>) -> tensor<3xf16>
  %difference = ad.sub %square, %square : tensor<3xf16>
  %ratio = ad.div %x, %x : tensor<3xf16>
  return %difference, %ratio : tensor<3xf16>, tensor<3xf16>
}
