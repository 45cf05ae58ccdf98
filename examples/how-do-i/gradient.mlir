// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A loss and its gradients with respect to two of three arguments.

func.func private @loss(%w: tensor<3xf32>, %b: tensor<f32>, %x: tensor<5x3xf32>) -> tensor<f32> {
  %product = ad.dot %x, %w : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5xf32>
  %y = ad.add %product, %b : tensor<5xf32>, tensor<f32>
  %square = ad.mul %y, %y : tensor<5xf32>
  %loss = ad.reduce_mean %square axes [0] : tensor<5xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%w: tensor<3xf32> {ad.name = "w"}, %b: tensor<f32> {ad.name = "b"}, %x: tensor<5x3xf32> {ad.name = "x"})
    -> (tensor<f32> {ad.name = "loss"}, tensor<3xf32> {ad.name = "dw"}, tensor<f32> {ad.name = "db"}) {
  // wrt lists the arguments of @loss, counted from 0; the value comes first, then one gradient for each.
  %loss, %dw, %db = ad.value_and_grad @loss(%w, %b, %x) wrt [0, 1]
      : (tensor<3xf32>, tensor<f32>, tensor<5x3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>)
  return %loss, %dw, %db : tensor<f32>, tensor<3xf32>, tensor<f32>
}
