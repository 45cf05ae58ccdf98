// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// A product of f16 that tensor cores can compute.
func.func @main(%x: tensor<32x640xf16> {ad.name = "x"}, %w: tensor<640x32xf16> {ad.name = "w"})
    -> (tensor<32x32xf32> {ad.name = "y"}) {
  %y = ad.dot %x, %w : (tensor<32x640xf16>, tensor<640x32xf16>) -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
