// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Weights are kept in f32; products are computed in bf16, and the gradient comes back in f32.

func.func private @loss(%w: tensor<8x3xf32>, %x: tensor<4x8xf32>) -> tensor<f32> {
  %w16 = ad.cast %w : tensor<8x3xf32> -> tensor<8x3xbf16>
  %x16 = ad.cast %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  // Operands of 16 bits, a result of 32: sums are accumulated in f32 in any case and would be rounded at the end.
  %y = ad.dot %x16, %w16 : (tensor<4x8xbf16>, tensor<8x3xbf16>) -> tensor<4x3xf32>
  %square = ad.mul %y, %y : tensor<4x3xf32>
  %loss = ad.reduce_sum %square axes [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%w: tensor<8x3xf32> {ad.name = "w", ad.donated = 0}, %x: tensor<4x8xf32> {ad.name = "x"})
    -> (tensor<8x3xf32> {ad.name = "w"}, tensor<f32> {ad.name = "loss"}) {
  %loss, %dw = ad.value_and_grad @loss(%w, %x) wrt [0]
      : (tensor<8x3xf32>, tensor<4x8xf32>) -> (tensor<f32>, tensor<8x3xf32>)
  %rate = ad.constant dense<0.01> : tensor<f32>
  %change = ad.mul %dw, %rate : tensor<8x3xf32>, tensor<f32>
  %new = ad.sub %w, %change : tensor<8x3xf32>
  return %new, %loss : tensor<8x3xf32>, tensor<f32>
}
