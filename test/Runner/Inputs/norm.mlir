func.func private @norm(%x: tensor<3x33xf64>) -> tensor<3x33xf64> {
  %s = ad.constant dense<1.5> : tensor<33xf64>
  %b = ad.constant dense<0.5> : tensor<33xf64>
  %y = ad.layer_norm %x, %s, %b epsilon 1.0e-5 : tensor<3x33xf64>, tensor<33xf64>
  return %y : tensor<3x33xf64>
}
func.func private @loss(%x: tensor<3x33xf64>) -> tensor<f64> {
  %y = call @norm(%x) : (tensor<3x33xf64>) -> tensor<3x33xf64>
  %n = ad.iota axis 1 : tensor<3x33xf64>
  %w = ad.sin %n : tensor<3x33xf64>
  %z = ad.mul %y, %w : tensor<3x33xf64>
  %l = ad.reduce_sum %z axes [0, 1] : tensor<3x33xf64> -> tensor<f64>
  return %l : tensor<f64>
}
func.func @main(%x: tensor<3x33xf64> {ad.name = "x"})
    -> (tensor<3x33xf64> {ad.name = "value"}, tensor<3x33xf64> {ad.name = "gradient"}) {
  %y = call @norm(%x) : (tensor<3x33xf64>) -> tensor<3x33xf64>
  %l, %d = ad.value_and_grad @loss(%x) wrt [0] : (tensor<3x33xf64>) -> (tensor<f64>, tensor<3x33xf64>)
  return %y, %d : tensor<3x33xf64>, tensor<3x33xf64>
}
