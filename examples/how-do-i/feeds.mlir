// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A loop in the program takes the next batch from the host in each step and hands the loss back.

func.func @main(%w: tensor<3xf32> {ad.name = "w"}) -> (tensor<3xf32> {ad.name = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 4 : index
  %rate = ad.constant dense<0.1> : tensor<f32>
  // iter_args are what a step hands to the next one; scf.yield gives their new values.
  %trained = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %w) -> tensor<3xf32> {
    %x = ad.feed "x" : tensor<5x3xf32>
    %loss, %dw = ad.value_and_grad @loss(%old, %x) wrt [0]
        : (tensor<3xf32>, tensor<5x3xf32>) -> (tensor<f32>, tensor<3xf32>)
    ad.receive "loss"(%loss) : tensor<f32>
    %change = ad.mul %dw, %rate : tensor<3xf32>, tensor<f32>
    %new = ad.sub %old, %change : tensor<3xf32>
    scf.yield %new : tensor<3xf32>
  }
  return %trained : tensor<3xf32>
}

func.func private @loss(%w: tensor<3xf32>, %x: tensor<5x3xf32>) -> tensor<f32> {
  %y = ad.dot %x, %w : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5xf32>
  %square = ad.mul %y, %y : tensor<5xf32>
  %loss = ad.reduce_mean %square axes [0] : tensor<5xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
