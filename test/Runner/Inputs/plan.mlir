// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// A chain of products, of which the first one is read last.
func.func @main(%x: tensor<8x8xf32> {ad.name = "x"})
    -> (tensor<8x8xf32> {ad.name = "y"}) {
  %a = ad.dot %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = ad.dot %a, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = ad.dot %b, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = ad.dot %c, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = ad.dot %d, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
