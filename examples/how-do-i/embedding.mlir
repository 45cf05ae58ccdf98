// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows of a table by their numbers, and the gradient of a loss of them. The row 0 is for padding: it learns nothing.

func.func private @loss(%table: tensor<10x4xf32>, %ids: tensor<6xi32>) -> (tensor<f32>, tensor<6x4xf32>) {
  %rows = ad.embedding %table, %ids padding 0 : tensor<10x4xf32>, tensor<6xi32>
  %square = ad.mul %rows, %rows : tensor<6x4xf32>
  %loss = ad.reduce_mean %square axes [0, 1] : tensor<6x4xf32> -> tensor<f32>
  return %loss, %rows : tensor<f32>, tensor<6x4xf32>
}

func.func @main(%table: tensor<10x4xf32> {ad.name = "table"}, %ids: tensor<6xi32> {ad.name = "ids"})
    -> (tensor<6x4xf32> {ad.name = "rows"}, tensor<10x4xf32> {ad.name = "gradient"}) {
  %loss, %rows, %gradient = ad.value_and_grad @loss(%table, %ids) wrt [0] has_aux
      : (tensor<10x4xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<6x4xf32>, tensor<10x4xf32>)
  return %rows, %gradient : tensor<6x4xf32>, tensor<10x4xf32>
}
