// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scores and classes in; the mean loss, its gradient and the share of right guesses out.

func.func private @loss(%scores: tensor<6x4xf32>, %classes: tensor<6xi32>) -> tensor<f32> {
  // The softmax is part of the operation: it takes scores, not probabilities.
  %losses = ad.cross_entropy %scores, %classes : tensor<6x4xf32>, tensor<6xi32> -> tensor<6xf32>
  %loss = ad.reduce_mean %losses axes [0] : tensor<6xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%scores: tensor<6x4xf32> {ad.name = "scores"}, %classes: tensor<6xi32> {ad.name = "classes"})
    -> (tensor<f32> {ad.name = "loss"}, tensor<6x4xf32> {ad.name = "gradient"}, tensor<f32> {ad.name = "accuracy"}) {
  %loss, %gradient = ad.value_and_grad @loss(%scores, %classes) wrt [0]
      : (tensor<6x4xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<6x4xf32>)
  %guesses = ad.argmax %scores axis 1 : tensor<6x4xf32>
  %wanted = ad.cast %classes : tensor<6xi32> -> tensor<6xi64>
  %hit = ad.compare eq %guesses, %wanted : tensor<6xi64>
  %hits = ad.cast %hit : tensor<6xi1> -> tensor<6xf32>
  %accuracy = ad.reduce_mean %hits axes [0] : tensor<6xf32> -> tensor<f32>
  return %loss, %gradient, %accuracy : tensor<f32>, tensor<6x4xf32>, tensor<f32>
}
