// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A step with dropout, whose parameters are kept in bf16: stochastic rounding keeps changes below half an ulp, on
// average.

func.func private @loss(%w: tensor<8x3xbf16>, %x: tensor<4x8xf32>, %key: tensor<i64>) -> tensor<f32> {
  // One number for each element of x, whose index is its counter: of several axes by a reshape.
  %index = ad.iota axis 0 : tensor<32xi64>
  %counter = ad.reshape %index : tensor<32xi64> -> tensor<4x8xi64>
  %draw = ad.rng_uniform %key, %counter : tensor<i64>, tensor<4x8xi64> -> tensor<4x8xf32>
  %keep = ad.constant dense<0.75> : tensor<f32>
  %zero = ad.constant dense<0.0> : tensor<f32>
  %kept = ad.compare lt %draw, %keep : tensor<4x8xf32>, tensor<f32>
  %scaled = ad.div %x, %keep : tensor<4x8xf32>, tensor<f32>
  %dropped = ad.select %kept, %scaled, %zero : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  %wide = ad.cast %w : tensor<8x3xbf16> -> tensor<8x3xf32>
  %y = ad.dot %dropped, %wide : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %square = ad.mul %y, %y : tensor<4x3xf32>
  %loss = ad.reduce_sum %square axes [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%w: tensor<8x3xf32> {ad.name = "w"}, %x: tensor<4x8xf32> {ad.name = "x"},
                %seed: tensor<i64> {ad.name = "seed"}, %step: tensor<i64> {ad.name = "step"})
    -> (tensor<8x3xf32> {ad.name = "w"}, tensor<f32> {ad.name = "loss"}) {
  // Keys of this step: one for the mask, one for the rounding.
  %zero = ad.constant dense<0> : tensor<i64>
  %one = ad.constant dense<1> : tensor<i64>
  %key = ad.rng_bits %seed, %step : tensor<i64>, tensor<i64> -> tensor<i64>
  %mask_key = ad.rng_bits %key, %zero : tensor<i64>, tensor<i64> -> tensor<i64>
  %round_key = ad.rng_bits %key, %one : tensor<i64>, tensor<i64> -> tensor<i64>

  %w16 = ad.cast %w : tensor<8x3xf32> -> tensor<8x3xbf16>
  %loss, %dw = ad.value_and_grad @loss(%w16, %x, %mask_key) wrt [0]
      : (tensor<8x3xbf16>, tensor<4x8xf32>, tensor<i64>) -> (tensor<f32>, tensor<8x3xbf16>)
  %rate = ad.constant dense<0.001> : tensor<f32>
  %old = ad.cast %w16 : tensor<8x3xbf16> -> tensor<8x3xf32>
  %gradient = ad.cast %dw : tensor<8x3xbf16> -> tensor<8x3xf32>
  %change = ad.mul %gradient, %rate : tensor<8x3xf32>, tensor<f32>
  %new = ad.sub %old, %change : tensor<8x3xf32>
  %index = ad.iota axis 0 : tensor<24xi64>
  %counter = ad.reshape %index : tensor<24xi64> -> tensor<8x3xi64>
  %rounded = ad.cast_stochastic %new, %round_key, %counter
      : tensor<8x3xf32>, tensor<i64>, tensor<8x3xi64> -> tensor<8x3xbf16>
  %result = ad.cast %rounded : tensor<8x3xbf16> -> tensor<8x3xf32>
  return %result, %loss : tensor<8x3xf32>, tensor<f32>
}
