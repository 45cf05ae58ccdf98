// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two products, which with an 8-bit policy have delayed scales.
func.func @main(%x: tensor<4x4xf32> {ad.name = "x"}, %w: tensor<4x4xf32> {ad.name = "w"},
                %s: tensor<2x3xf32> {ad.name = "s", ad.scales}) -> (tensor<4x4xf32> {ad.name = "y"}) {
  %p = ad.dot %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ad.dot %p, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
