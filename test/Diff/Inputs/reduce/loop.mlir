// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// A gradient through a loop that calls a function.
func.func private @step(%x: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<8xf32> {
  %product = ad.dot %w, %x : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ad.tanh %product : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @loss(%x: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 5 : index
  %last = scf.for %i = %zero to %steps step %one iter_args(%state = %x) -> (tensor<8xf32>) {
    %next = func.call @step(%state, %w) : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  %loss = ad.reduce_sum %last axes [0] : tensor<8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @main(%x: tensor<8xf32> {ad.name = "x"}, %w: tensor<8x8xf32> {ad.name = "w"})
    -> (tensor<f32> {ad.name = "loss"}, tensor<8x8xf32> {ad.name = "gradient"}) {
  %loss, %gradient = ad.value_and_grad @loss(%x, %w) wrt [1]
      : (tensor<8xf32>, tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>)
  return %loss, %gradient : tensor<f32>, tensor<8x8xf32>
}
