// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A layer: a product of matrices, a bias that repeats along the batch, an activation.

func.func @main(%x: tensor<4x8xf32> {ad.name = "x"}, %w: tensor<8x3xf32> {ad.name = "w"},
                %b: tensor<3xf32> {ad.name = "b"}) -> (tensor<4x3xf32> {ad.name = "y"}) {
  %product = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %sum = ad.add %product, %b : tensor<4x3xf32>, tensor<3xf32>
  %y = ad.relu %sum : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
