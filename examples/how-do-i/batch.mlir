// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One product of matrices for each example of a batch: axis 0 of both operands is the batch.

func.func @main(%a: tensor<5x4x8xf32> {ad.name = "a"}, %b: tensor<5x2x8xf32> {ad.name = "b"})
    -> (tensor<5x4x2xf32> {ad.name = "y"}) {
  // y[n] = a[n] times b[n] transposed
  %y = ad.dot %a, %b batch [0] x [0] contract [2] x [2]
      : (tensor<5x4x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x2xf32>
  return %y : tensor<5x4x2xf32>
}
