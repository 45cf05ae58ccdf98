// sqrt has an infinite derivative at 0, which the reverse part computes; sqrt and log have no value below 0.
func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %roots = ad.sqrt %x : tensor<4xf32>
  %sum = ad.reduce_sum %roots axes [0] : tensor<4xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) -> (tensor<4xf32> {ad.name = "y"}, tensor<4xf32> {ad.name = "g"}) {
  %zero = arith.constant 0 : index
  %step = arith.constant 1 : index
  %end = arith.constant 3 : index
  %one = ad.constant dense<1.0> : tensor<f32>
  %none = ad.constant dense<0.0> : tensor<4xf32>
  %y, %g = scf.for %i = %zero to %end step %step iter_args(%a = %x, %before = %none) -> (tensor<4xf32>, tensor<4xf32>) {
    %loss, %gradient = ad.value_and_grad @loss(%a) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
    %less = ad.sub %a, %one : tensor<4xf32>, tensor<f32>
    scf.yield %less, %gradient : tensor<4xf32>, tensor<4xf32>
  }
  %logarithm = ad.log %y : tensor<4xf32>
  return %logarithm, %g : tensor<4xf32>, tensor<4xf32>
}
