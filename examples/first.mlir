// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A function and its gradient: sum(tanh(x)^2) and its derivative. Run it with
//   ad-runner examples/first.mlir --arg x=normal:1 --print

func.func private @energy(%x: tensor<8xf32>) -> tensor<f32> {
  %t = ad.tanh %x : tensor<8xf32>
  %s = ad.mul %t, %t : tensor<8xf32>
  %e = ad.reduce_sum %s axes [0] : tensor<8xf32> -> tensor<f32>
  return %e : tensor<f32>
}

func.func @main(%x: tensor<8xf32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "energy"}, tensor<8xf32> {ad.name = "gradient"}) {
  %e, %g = ad.value_and_grad @energy(%x) wrt [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)
  return %e, %g : tensor<f32>, tensor<8xf32>
}
