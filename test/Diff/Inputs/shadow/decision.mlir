// In f32 1e8 + 1 is 1e8, so the condition does not hold; in f64 it does.
func.func @main(%x: tensor<f32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "y"}) {
  %large = ad.constant dense<1.0e8> : tensor<f32>
  %sum = ad.add %x, %large : tensor<f32>
  %is_larger = ad.compare gt %sum, %large : tensor<f32>
  %condition = tensor.extract %is_larger[] : tensor<i1>
  %y = scf.if %condition -> tensor<f32> {
    scf.yield %x : tensor<f32>
  } else {
    %z = ad.neg %x : tensor<f32>
    scf.yield %z : tensor<f32>
  }
  return %y : tensor<f32>
}
