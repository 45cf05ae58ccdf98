// x is multiplied by 1.1 in each iteration, and a loop ends when it exceeds 2: a decision.
func.func @main(%x: tensor<f32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "y"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 5 : index
  %factor = ad.constant dense<1.1> : tensor<f32>
  %y = scf.for %i = %zero to %end step %one iter_args(%a = %x) -> tensor<f32> {
    %b = ad.mul %a, %factor : tensor<f32>
    scf.yield %b : tensor<f32>
  }
  return %y : tensor<f32>
}
