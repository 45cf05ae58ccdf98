// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Dynamic sizes: each row of a batch of any size minus the mean of all rows, as one long vector.

func.func @main(%x: tensor<?x3xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %mean = ad.reduce_mean %x axes [0] : tensor<?x3xf32> -> tensor<3xf32>
  %centred = ad.sub %x, %mean : tensor<?x3xf32>, tensor<3xf32>
  // Where the result's sizes do not follow from its operands, the operation takes them as index values in parentheses.
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %rows = tensor.dim %x, %c0 : tensor<?x3xf32>
  %count = arith.muli %rows, %c3 : index
  %y = ad.reshape %centred(%count) : tensor<?x3xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}
