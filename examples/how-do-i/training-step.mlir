// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One step of gradient descent that writes the new weights over the old ones.

func.func private @loss(%w: tensor<3xf32>, %x: tensor<5x3xf32>, %y: tensor<5xf32>) -> tensor<f32> {
  %guess = ad.dot %x, %w : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5xf32>
  %error = ad.sub %guess, %y : tensor<5xf32>
  %square = ad.mul %error, %error : tensor<5xf32>
  %loss = ad.reduce_mean %square axes [0] : tensor<5xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// ad.donated = 0 gives the memory of the argument to result 0. The old weights are gone after the call.
func.func @main(%w: tensor<3xf32> {ad.name = "w", ad.donated = 0}, %x: tensor<5x3xf32> {ad.name = "x"},
                %y: tensor<5xf32> {ad.name = "y"}) -> (tensor<3xf32> {ad.name = "w"}, tensor<f32> {ad.name = "loss"}) {
  %loss, %dw = ad.value_and_grad @loss(%w, %x, %y) wrt [0]
      : (tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>) -> (tensor<f32>, tensor<3xf32>)
  %rate = ad.constant dense<0.1> : tensor<f32>
  %change = ad.mul %dw, %rate : tensor<3xf32>, tensor<f32>
  %new = ad.sub %w, %change : tensor<3xf32>
  return %new, %loss : tensor<3xf32>, tensor<f32>
}
