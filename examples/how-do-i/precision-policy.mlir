// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The program is written in f32. The policy bf16 casts operands of products, and the gradient comes back in f32.

module attributes {ad.precision = #ad.precision<bf16>} {
  func.func private @loss(%w: tensor<8x3xf32>, %x: tensor<4x8xf32>) -> tensor<f32> {
    // In bf16, and so is the square of a value in bf16. Sums of losses stay in f32.
    %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
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
}
