// AdamW with f32 masters and bf16 copies. The loop carries both: the model reads the copy, and the kernel of the update
// writes it, so that no kernel casts parameters.

func.func private @loss(%w: tensor<8x3xbf16>, %x: tensor<4x8xbf16>) -> tensor<f32> {
  %y = ad.dot %x, %w : (tensor<4x8xbf16>, tensor<8x3xbf16>) -> tensor<4x3xf32>
  %square = ad.mul %y, %y : tensor<4x3xf32>
  %loss = ad.reduce_mean %square axes [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// What adjoint.text.optim writes for AdamW(weight_decay=0.1) and Storage(copy="bf16").
func.func private @update(%w: tensor<8x3xf32>, %gradient: tensor<8x3xbf16>, %mean: tensor<8x3xf32>,
                          %square: tensor<8x3xf32>, %rate: tensor<f32>, %step: tensor<i64>)
    -> (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xbf16>) {
  %g = ad.cast %gradient : tensor<8x3xbf16> -> tensor<8x3xf32>
  %weight_decay = ad.constant dense<0.1> : tensor<f32>
  %decay_rate = ad.mul %rate, %weight_decay : tensor<f32>
  %decay = ad.mul %w, %decay_rate : tensor<8x3xf32>, tensor<f32>
  %decayed = ad.sub %w, %decay : tensor<8x3xf32>

  %beta1 = ad.constant dense<0.9> : tensor<f32>
  %rest1 = ad.constant dense<0.1> : tensor<f32>
  %mean_kept = ad.mul %mean, %beta1 : tensor<8x3xf32>, tensor<f32>
  %mean_new = ad.mul %g, %rest1 : tensor<8x3xf32>, tensor<f32>
  %next_mean = ad.add %mean_kept, %mean_new : tensor<8x3xf32>
  %beta2 = ad.constant dense<0.999> : tensor<f32>
  %rest2 = ad.constant dense<0.001> : tensor<f32>
  %g2 = ad.mul %g, %g : tensor<8x3xf32>
  %square_kept = ad.mul %square, %beta2 : tensor<8x3xf32>, tensor<f32>
  %square_new = ad.mul %g2, %rest2 : tensor<8x3xf32>, tensor<f32>
  %next_square = ad.add %square_kept, %square_new : tensor<8x3xf32>

  // 1 - beta^step is -expm1(step * log beta), which keeps the digits that the difference loses in f32.
  %count = ad.cast %step : tensor<i64> -> tensor<f32>
  %log1 = ad.constant dense<-0.10536051565782628> : tensor<f32>
  %log2 = ad.constant dense<-0.0010005003335835344> : tensor<f32>
  %power1 = ad.mul %count, %log1 : tensor<f32>
  %power2 = ad.mul %count, %log2 : tensor<f32>
  %missing1 = ad.expm1 %power1 : tensor<f32>
  %missing2 = ad.expm1 %power2 : tensor<f32>
  %weight1 = ad.neg %missing1 : tensor<f32>
  %weight2 = ad.neg %missing2 : tensor<f32>
  %fair_mean = ad.div %next_mean, %weight1 : tensor<8x3xf32>, tensor<f32>
  %fair_square = ad.div %next_square, %weight2 : tensor<8x3xf32>, tensor<f32>

  %epsilon = ad.constant dense<1.0e-8> : tensor<f32>
  %root = ad.sqrt %fair_square : tensor<8x3xf32>
  %divisor = ad.add %root, %epsilon : tensor<8x3xf32>, tensor<f32>
  %direction = ad.div %fair_mean, %divisor : tensor<8x3xf32>
  %change = ad.mul %direction, %rate : tensor<8x3xf32>, tensor<f32>
  %next = ad.sub %decayed, %change : tensor<8x3xf32>
  %copy = ad.cast %next : tensor<8x3xf32> -> tensor<8x3xbf16>
  return %next, %next_mean, %next_square, %copy : tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xbf16>
}

func.func @main(%w: tensor<8x3xf32> {ad.name = "w", ad.donated = 0}, %x: tensor<4x8xf32> {ad.name = "x"})
    -> (tensor<8x3xf32> {ad.name = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 10 : index
  %none = ad.constant dense<0> : tensor<i64>
  %one = ad.constant dense<1> : tensor<i64>
  %rate = ad.constant dense<0.01> : tensor<f32>
  %zero = ad.constant dense<0.0> : tensor<8x3xf32>
  %x16 = ad.cast %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  %first = ad.cast %w : tensor<8x3xf32> -> tensor<8x3xbf16>
  %r:5 = scf.for %i = %c0 to %steps step %c1
      iter_args(%p = %w, %copy = %first, %m = %zero, %v = %zero, %done = %none)
      -> (tensor<8x3xf32>, tensor<8x3xbf16>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<i64>) {
    %loss, %g = ad.value_and_grad @loss(%copy, %x16) wrt [0]
        : (tensor<8x3xbf16>, tensor<4x8xbf16>) -> (tensor<f32>, tensor<8x3xbf16>)
    ad.receive "loss"(%loss) : tensor<f32>
    %step = ad.add %done, %one : tensor<i64>
    %next, %next_m, %next_v, %next_copy = func.call @update(%p, %g, %m, %v, %rate, %step)
        : (tensor<8x3xf32>, tensor<8x3xbf16>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<f32>, tensor<i64>)
        -> (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xbf16>)
    scf.yield %next, %next_copy, %next_m, %next_v, %step
        : tensor<8x3xf32>, tensor<8x3xbf16>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<i64>
  }
  return %r#0 : tensor<8x3xf32>
}
