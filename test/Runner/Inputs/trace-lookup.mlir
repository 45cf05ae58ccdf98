// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows by their numbers, each of which is tested before the kernel runs.
func.func @main(%table: tensor<9x3xf32> {ad.name = "table"}, %ids: tensor<?xi32> {ad.name = "ids"}) -> (tensor<3xf32> {ad.name = "sum"}) {
  %rows = ad.take %table, %ids axis 0 : tensor<9x3xf32>, tensor<?xi32>
  %sum = ad.reduce_sum %rows axes [0] : tensor<?x3xf32> -> tensor<3xf32>
  return %sum : tensor<3xf32>
}
