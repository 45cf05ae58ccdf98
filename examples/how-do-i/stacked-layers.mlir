// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The weights of all layers in one tensor: a loop takes the slice of its layer, and the gradient has that shape too.

func.func private @loss(%weights: tensor<3x4x4xf32>, %x: tensor<5x4xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %layers = arith.constant 3 : index
  %y = scf.for %layer = %c0 to %layers step %c1 iter_args(%h = %x) -> tensor<5x4xf32> {
    %slice = ad.dynamic_slice %weights[%layer, %c0, %c0] : tensor<3x4x4xf32> -> tensor<1x4x4xf32>
    %w = ad.reshape %slice : tensor<1x4x4xf32> -> tensor<4x4xf32>
    %product = ad.dot %h, %w : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %next = ad.tanh %product : tensor<5x4xf32>
    scf.yield %next : tensor<5x4xf32>
  }
  %square = ad.mul %y, %y : tensor<5x4xf32>
  %loss = ad.reduce_sum %square axes [0, 1] : tensor<5x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%weights: tensor<3x4x4xf32> {ad.name = "weights"}, %x: tensor<5x4xf32> {ad.name = "x"})
    -> (tensor<f32> {ad.name = "loss"}, tensor<3x4x4xf32> {ad.name = "gradient"}) {
  %loss, %gradient = ad.value_and_grad @loss(%weights, %x) wrt [0]
      : (tensor<3x4x4xf32>, tensor<5x4xf32>) -> (tensor<f32>, tensor<3x4x4xf32>)
  return %loss, %gradient : tensor<f32>, tensor<3x4x4xf32>
}
