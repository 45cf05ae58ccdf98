// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows of a table by their numbers: a product with a matrix that has a single 1 in each row.

func.func @main(%table: tensor<10x4xf32> {ad.name = "table"}, %ids: tensor<6xi32> {ad.name = "ids"})
    -> (tensor<6x4xf32> {ad.name = "rows"}) {
  %column = ad.reshape %ids : tensor<6xi32> -> tensor<6x1xi32>
  %all = ad.iota axis 1 : tensor<6x10xi32>
  %equal = ad.compare eq %column, %all : tensor<6x1xi32>, tensor<6x10xi32>
  %one_hot = ad.cast %equal : tensor<6x10xi1> -> tensor<6x10xf32>
  %rows = ad.dot %one_hot, %table : (tensor<6x10xf32>, tensor<10x4xf32>) -> tensor<6x4xf32>
  return %rows : tensor<6x4xf32>
}
