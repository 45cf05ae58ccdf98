// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// `fast` combines the constants, which rounds once less, and approximates tanh.
func.func @main(%x: tensor<4x8xf32> {ad.name = "x"}, %w: tensor<8x8xf32> {ad.name = "w"})
    -> (tensor<4x8xf32> {ad.name = "y"}) {
  %product = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %third = ad.constant dense<0.333333343> : tensor<4x8xf32>
  %scaled = ad.mul %product, %third : tensor<4x8xf32>
  %seventh = ad.constant dense<0.142857149> : tensor<4x8xf32>
  %again = ad.mul %scaled, %seventh : tensor<4x8xf32>
  %y = ad.tanh %again : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
