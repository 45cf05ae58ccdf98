// Training in f16 with a dynamic loss scale. The scale is the cotangent of the loss. A step whose gradient overflows f16
// is not made and halves the scale; three steps in a row without an overflow double it.

func.func private @loss(%w: tensor<8x3xf32>, %x: tensor<4x8xf32>) -> tensor<f32> {
  %w16 = ad.cast %w : tensor<8x3xf32> -> tensor<8x3xf16>
  %x16 = ad.cast %x : tensor<4x8xf32> -> tensor<4x8xf16>
  %y16 = ad.dot %x16, %w16 : (tensor<4x8xf16>, tensor<8x3xf16>) -> tensor<4x3xf16>
  %y = ad.cast %y16 : tensor<4x3xf16> -> tensor<4x3xf32>
  %square = ad.mul %y, %y : tensor<4x3xf32>
  %loss = ad.reduce_mean %square axes [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%w: tensor<8x3xf32> {ad.name = "w", ad.donated = 0}, %x: tensor<4x8xf32> {ad.name = "x"})
    -> (tensor<8x3xf32> {ad.name = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 20 : index
  %zero = ad.constant dense<0> : tensor<i64>
  %one = ad.constant dense<1> : tensor<i64>
  %unit = ad.constant dense<1.0> : tensor<f32>
  %rate = ad.constant dense<0.05> : tensor<f32>
  %first = ad.constant dense<1048576.0> : tensor<f32>
  %interval = ad.constant dense<3> : tensor<i64>
  %growth = ad.constant dense<2.0> : tensor<f32>
  %backoff = ad.constant dense<0.5> : tensor<f32>
  %r:3 = scf.for %i = %c0 to %steps step %c1 iter_args(%p = %w, %scale = %first, %good = %zero)
      -> (tensor<8x3xf32>, tensor<f32>, tensor<i64>) {
    %loss, %g = ad.vjp @loss(%p, %x) cotangents(%scale) wrt [0]
        : (tensor<8x3xf32>, tensor<4x8xf32>, tensor<f32>) -> (tensor<f32>, tensor<8x3xf32>)

    // The largest magnitude is finite if and only if all elements are: ad.reduce_max propagates NaN.
    %flat = ad.reshape %g : tensor<8x3xf32> -> tensor<24xf32>
    %magnitudes = ad.abs %flat : tensor<24xf32>
    %largest = ad.reduce_max %magnitudes axes [0] : tensor<24xf32> -> tensor<f32>
    %finite = ad.is_finite %largest : tensor<f32> -> tensor<i1>
    ad.receive "loss"(%loss) : tensor<f32>
    ad.receive "scale"(%scale) : tensor<f32>
    ad.receive "finite"(%finite) : tensor<i1>

    // The update divides by the scale, and keeps the parameter where the step is not made: one kernel, no branch.
    %factor = ad.div %unit, %scale : tensor<f32>
    %gradient = ad.mul %g, %factor : tensor<8x3xf32>, tensor<f32>
    %change = ad.mul %gradient, %rate : tensor<8x3xf32>, tensor<f32>
    %moved = ad.sub %p, %change : tensor<8x3xf32>
    %next = ad.select %finite, %moved, %p : tensor<i1>, tensor<8x3xf32>, tensor<8x3xf32>

    // The next scale.
    %more = ad.add %good, %one : tensor<i64>
    %full = ad.compare ge %more, %interval : tensor<i64>
    %larger = ad.mul %scale, %growth : tensor<f32>
    %smaller = ad.mul %scale, %backoff : tensor<f32>
    %grown = ad.select %full, %larger, %scale : tensor<i1>, tensor<f32>, tensor<f32>
    %next_scale = ad.select %finite, %grown, %smaller : tensor<i1>, tensor<f32>, tensor<f32>
    %counted = ad.select %full, %zero, %more : tensor<i1>, tensor<i64>, tensor<i64>
    %next_good = ad.select %finite, %counted, %zero : tensor<i1>, tensor<i64>, tensor<i64>
    scf.yield %next, %next_scale, %next_good : tensor<8x3xf32>, tensor<f32>, tensor<i64>
  }
  return %r#0 : tensor<8x3xf32>
}
