// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// -0 + 0 is +0; `algebra` makes it -0.
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) -> (tensor<4xf32> {ad.name = "y"}) {
  %zero = ad.constant dense<0.0> : tensor<4xf32>
  %negative = ad.neg %x : tensor<4xf32>
  %y = ad.add %negative, %zero : tensor<4xf32>
  return %y : tensor<4xf32>
}
