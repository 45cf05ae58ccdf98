// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Each row minus its mean: the mean keeps its axis, with size 1, and repeats along it.

func.func @main(%x: tensor<4x8xf32> {ad.name = "x"}) -> (tensor<4x8xf32> {ad.name = "y"}) {
  %mean = ad.reduce_mean %x axes [1] keep_dims : tensor<4x8xf32> -> tensor<4x1xf32>
  %y = ad.sub %x, %mean : tensor<4x8xf32>, tensor<4x1xf32>
  return %y : tensor<4x8xf32>
}
