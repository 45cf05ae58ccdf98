// 100000 iterations, each a source of the next: 1.0009 ^ n overflows at about ln(3.4e38) / ln(1.0009) = 98.6 thousand.
func.func @main(%x: tensor<f32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "y"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 100000 : index
  %factor = ad.constant dense<1.0009> : tensor<f32>
  %y = scf.for %i = %zero to %end step %one iter_args(%a = %x) -> tensor<f32> {
    %b = ad.mul %a, %factor : tensor<f32>
    scf.yield %b : tensor<f32>
  }
  return %y : tensor<f32>
}
