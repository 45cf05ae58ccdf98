// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Training in f8 with delayed scaling. The loop carries the largest magnitudes of the last four steps; scales follow
// from them. The gradient with respect to the scales has the magnitudes of the step.

module attributes {ad.precision = #ad.precision<f8>} {
  // One contraction, so one row of scales: of lhs, rhs and cotangent. The policy makes it an ad.scaled_dot.
  func.func private @loss(%w: tensor<8x3xf32>, %x: tensor<4x8xf32>, %scales: tensor<1x3xf32> {ad.scales})
      -> tensor<f32> {
    %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
    %square = ad.mul %y, %y : tensor<4x3xf32>
    %loss = ad.reduce_sum %square axes [0, 1] : tensor<4x3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }

  // The largest power of two with which the largest magnitude is at most 224, half of the largest number of f8E4M3FN,
  // or 28672 for the cotangent in f8E5M2; 1 while all magnitudes are 0.
  func.func private @scales_of_history(%history: tensor<4x1x3xf32>) -> tensor<1x3xf32> {
    %largest = ad.reduce_max %history axes [0] : tensor<4x1x3xf32> -> tensor<1x3xf32>
    %limits = ad.constant dense<[224.0, 224.0, 28672.0]> : tensor<3xf32>
    %zero = ad.constant dense<0.0> : tensor<f32>
    %one = ad.constant dense<1.0> : tensor<f32>
    %ratio = ad.div %limits, %largest : tensor<3xf32>, tensor<1x3xf32>
    %log = ad.log2 %ratio : tensor<1x3xf32>
    %exponent = ad.floor %log : tensor<1x3xf32>
    %power = ad.exp2 %exponent : tensor<1x3xf32>
    %some = ad.compare gt %largest, %zero : tensor<1x3xf32>, tensor<f32>
    %scales = ad.select %some, %power, %one : tensor<1x3xi1>, tensor<1x3xf32>, tensor<f32>
    return %scales : tensor<1x3xf32>
  }

  func.func @main(%w: tensor<8x3xf32> {ad.name = "w", ad.donated = 0}, %x: tensor<4x8xf32> {ad.name = "x"})
      -> (tensor<8x3xf32> {ad.name = "w"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %steps = arith.constant 10 : index
    %rate = ad.constant dense<0.01> : tensor<f32>
    %none = ad.constant dense<0.0> : tensor<4x1x3xf32>
    %r:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%p = %w, %history = %none)
        -> (tensor<8x3xf32>, tensor<4x1x3xf32>) {
      %scales = func.call @scales_of_history(%history) : (tensor<4x1x3xf32>) -> tensor<1x3xf32>
      %loss, %dw, %largest = ad.value_and_grad @loss(%p, %x, %scales) wrt [0, 2]
          : (tensor<8x3xf32>, tensor<4x8xf32>, tensor<1x3xf32>) -> (tensor<f32>, tensor<8x3xf32>, tensor<1x3xf32>)
      ad.receive "loss"(%loss) : tensor<f32>
      ad.receive "scales"(%scales) : tensor<1x3xf32>
      %change = ad.mul %dw, %rate : tensor<8x3xf32>, tensor<f32>
      %next = ad.sub %p, %change : tensor<8x3xf32>
      // The newest magnitudes first, and the oldest ones out.
      %row = ad.reshape %largest : tensor<1x3xf32> -> tensor<1x1x3xf32>
      %rest = ad.slice %history [0, 0, 0] strides [1, 1, 1] : tensor<4x1x3xf32> -> tensor<3x1x3xf32>
      %newer = ad.concat axis 0 %row, %rest : tensor<1x1x3xf32>, tensor<3x1x3xf32>
      scf.yield %next, %newer : tensor<8x3xf32>, tensor<4x1x3xf32>
    }
    return %r#0 : tensor<8x3xf32>
  }
}
