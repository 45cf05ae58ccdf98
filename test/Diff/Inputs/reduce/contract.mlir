// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// The product and the sum differ together alone: `contract` makes them one ad.fma.
func.func @main(%x: tensor<64xf32> {ad.name = "x"}, %w: tensor<64xf32> {ad.name = "w"})
    -> (tensor<64xf32> {ad.name = "y"}) {
  %square = ad.mul %x, %x : tensor<64xf32>
  %root = ad.sqrt %square : tensor<64xf32>
  %product = ad.mul %root, %w : tensor<64xf32>
  %sum = ad.add %product, %x : tensor<64xf32>
  %y = ad.neg %sum : tensor<64xf32>
  return %y : tensor<64xf32>
}
