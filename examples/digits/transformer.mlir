// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A transformer encoder of two layers learns to read digits of 8 x 8 pixels: the 8 rows of a digit are its tokens. The
// whole training run is this one program, as in mlp.mlir; here the host feeds the learning rate of each step too.
// The tokens of a batch are the 256 rows of one matrix; only attention looks at them digit by digit.

!digits = tensor<32x64xi8>
!labels = tensor<32xi8>
!scores = tensor<32x10xf32>
!tokens = tensor<256x64xf32>
!heads = tensor<32x4x8x16xf32>

// The parameters; the first axis of those in the middle is the layer.
!embed = tensor<8x64xf32>
!position = tensor<8x64xf32>
!attention = tensor<2x4x64x64xf32>   // query, key, value, merge
!norms = tensor<2x4x64xf32>          // scale and bias after the attention, scale and bias after the dense layers
!expand = tensor<2x64x128xf32>
!expand_bias = tensor<2x128xf32>
!contract = tensor<2x128x64xf32>
!contract_bias = tensor<2x64xf32>
!head = tensor<64x10xf32>
!head_bias = tensor<10xf32>

// 4 heads of 16 columns each, as (digit, head, token, column).
func.func private @split_heads(%rows: !tokens) -> !heads {
  %0 = ad.reshape %rows : !tokens -> tensor<32x8x4x16xf32>
  %1 = ad.transpose %0 [0, 2, 1, 3] : tensor<32x8x4x16xf32>
  return %1 : !heads
}

// Each token looks at the tokens of its digit.
func.func private @attend(%rows: !tokens, %weights: tensor<4x64x64xf32>) -> !tokens {
  %0 = ad.slice %weights [0, 0, 0] strides [1, 1, 1] : tensor<4x64x64xf32> -> tensor<1x64x64xf32>
  %1 = ad.slice %weights [1, 0, 0] strides [1, 1, 1] : tensor<4x64x64xf32> -> tensor<1x64x64xf32>
  %2 = ad.slice %weights [2, 0, 0] strides [1, 1, 1] : tensor<4x64x64xf32> -> tensor<1x64x64xf32>
  %3 = ad.slice %weights [3, 0, 0] strides [1, 1, 1] : tensor<4x64x64xf32> -> tensor<1x64x64xf32>
  %query = ad.reshape %0 : tensor<1x64x64xf32> -> tensor<64x64xf32>
  %key = ad.reshape %1 : tensor<1x64x64xf32> -> tensor<64x64xf32>
  %value = ad.reshape %2 : tensor<1x64x64xf32> -> tensor<64x64xf32>
  %merge = ad.reshape %3 : tensor<1x64x64xf32> -> tensor<64x64xf32>
  %4 = ad.dot %rows, %query : (!tokens, tensor<64x64xf32>) -> !tokens
  %5 = ad.dot %rows, %key : (!tokens, tensor<64x64xf32>) -> !tokens
  %6 = ad.dot %rows, %value : (!tokens, tensor<64x64xf32>) -> !tokens
  %q = call @split_heads(%4) : (!tokens) -> !heads
  %k = call @split_heads(%5) : (!tokens) -> !heads
  %v = call @split_heads(%6) : (!tokens) -> !heads
  %scale = ad.constant dense<0.25> : tensor<f32>  // one over the square root of the 16 columns
  %7 = ad.dot %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (!heads, !heads) -> tensor<32x4x8x8xf32>
  %8 = ad.mul %7, %scale : tensor<32x4x8x8xf32>, tensor<f32>
  %attention = ad.softmax %8 axis 3 : tensor<32x4x8x8xf32>
  %9 = ad.dot %attention, %v : (tensor<32x4x8x8xf32>, !heads) -> !heads
  %10 = ad.transpose %9 [0, 2, 1, 3] : !heads
  %11 = ad.reshape %10 : tensor<32x8x4x16xf32> -> !tokens
  %12 = ad.dot %11, %merge : (!tokens, tensor<64x64xf32>) -> !tokens
  return %12 : !tokens
}

// Attention, then two dense layers, each added to its input and normalized.
func.func private @encode(%rows: !tokens, %attention: tensor<1x4x64x64xf32>, %norms: tensor<1x4x64xf32>,
                          %expand: tensor<1x64x128xf32>, %expand_bias: tensor<1x128xf32>,
                          %contract: tensor<1x128x64xf32>, %contract_bias: tensor<1x64xf32>) -> !tokens {
  %0 = ad.slice %norms [0, 0, 0] strides [1, 1, 1] : tensor<1x4x64xf32> -> tensor<1x1x64xf32>
  %1 = ad.slice %norms [0, 1, 0] strides [1, 1, 1] : tensor<1x4x64xf32> -> tensor<1x1x64xf32>
  %2 = ad.slice %norms [0, 2, 0] strides [1, 1, 1] : tensor<1x4x64xf32> -> tensor<1x1x64xf32>
  %3 = ad.slice %norms [0, 3, 0] strides [1, 1, 1] : tensor<1x4x64xf32> -> tensor<1x1x64xf32>
  %scale1 = ad.reshape %0 : tensor<1x1x64xf32> -> tensor<64xf32>
  %bias1 = ad.reshape %1 : tensor<1x1x64xf32> -> tensor<64xf32>
  %scale2 = ad.reshape %2 : tensor<1x1x64xf32> -> tensor<64xf32>
  %bias2 = ad.reshape %3 : tensor<1x1x64xf32> -> tensor<64xf32>
  %weights = ad.reshape %attention : tensor<1x4x64x64xf32> -> tensor<4x64x64xf32>
  %wide = ad.reshape %expand : tensor<1x64x128xf32> -> tensor<64x128xf32>
  %narrow = ad.reshape %contract : tensor<1x128x64xf32> -> tensor<128x64xf32>

  %4 = call @attend(%rows, %weights) : (!tokens, tensor<4x64x64xf32>) -> !tokens
  %5 = ad.add %rows, %4 : !tokens
  %attended = ad.layer_norm %5, %scale1, %bias1 epsilon 1.0e-5 : !tokens, tensor<64xf32>
  %6 = ad.dot %attended, %wide : (!tokens, tensor<64x128xf32>) -> tensor<256x128xf32>
  %7 = ad.add %6, %expand_bias : tensor<256x128xf32>, tensor<1x128xf32>
  %8 = ad.relu %7 : tensor<256x128xf32>
  %9 = ad.dot %8, %narrow : (tensor<256x128xf32>, tensor<128x64xf32>) -> !tokens
  %10 = ad.add %9, %contract_bias : !tokens, tensor<1x64xf32>
  %11 = ad.add %attended, %10 : !tokens
  %12 = ad.layer_norm %11, %scale2, %bias2 epsilon 1.0e-5 : !tokens, tensor<64xf32>
  return %12 : !tokens
}

// Where pixels 0 to 16 come in, scores of the ten digits come out.
func.func private @model(%embed: !embed, %position: !position, %attention: !attention, %norms: !norms,
                         %expand: !expand, %expand_bias: !expand_bias, %contract: !contract,
                         %contract_bias: !contract_bias, %head: !head, %head_bias: !head_bias,
                         %images: !digits) -> !scores {
  %scale = ad.constant dense<0.0625> : tensor<f32>
  %0 = ad.cast %images : !digits -> tensor<32x64xf32>
  %1 = ad.mul %0, %scale : tensor<32x64xf32>, tensor<f32>
  %pixels = ad.reshape %1 : tensor<32x64xf32> -> tensor<256x8xf32>
  %2 = ad.dot %pixels, %embed : (tensor<256x8xf32>, !embed) -> !tokens
  %3 = ad.reshape %2 : !tokens -> tensor<32x8x64xf32>
  %4 = ad.add %3, %position : tensor<32x8x64xf32>, !position
  %rows = ad.reshape %4 : tensor<32x8x64xf32> -> !tokens

  %a0 = ad.slice %attention [0, 0, 0, 0] strides [1, 1, 1, 1] : !attention -> tensor<1x4x64x64xf32>
  %n0 = ad.slice %norms [0, 0, 0] strides [1, 1, 1] : !norms -> tensor<1x4x64xf32>
  %e0 = ad.slice %expand [0, 0, 0] strides [1, 1, 1] : !expand -> tensor<1x64x128xf32>
  %eb0 = ad.slice %expand_bias [0, 0] strides [1, 1] : !expand_bias -> tensor<1x128xf32>
  %c0 = ad.slice %contract [0, 0, 0] strides [1, 1, 1] : !contract -> tensor<1x128x64xf32>
  %cb0 = ad.slice %contract_bias [0, 0] strides [1, 1] : !contract_bias -> tensor<1x64xf32>
  %first = call @encode(%rows, %a0, %n0, %e0, %eb0, %c0, %cb0)
      : (!tokens, tensor<1x4x64x64xf32>, tensor<1x4x64xf32>, tensor<1x64x128xf32>, tensor<1x128xf32>,
         tensor<1x128x64xf32>, tensor<1x64xf32>) -> !tokens

  %a1 = ad.slice %attention [1, 0, 0, 0] strides [1, 1, 1, 1] : !attention -> tensor<1x4x64x64xf32>
  %n1 = ad.slice %norms [1, 0, 0] strides [1, 1, 1] : !norms -> tensor<1x4x64xf32>
  %e1 = ad.slice %expand [1, 0, 0] strides [1, 1, 1] : !expand -> tensor<1x64x128xf32>
  %eb1 = ad.slice %expand_bias [1, 0] strides [1, 1] : !expand_bias -> tensor<1x128xf32>
  %c1 = ad.slice %contract [1, 0, 0] strides [1, 1, 1] : !contract -> tensor<1x128x64xf32>
  %cb1 = ad.slice %contract_bias [1, 0] strides [1, 1] : !contract_bias -> tensor<1x64xf32>
  %second = call @encode(%first, %a1, %n1, %e1, %eb1, %c1, %cb1)
      : (!tokens, tensor<1x4x64x64xf32>, tensor<1x4x64xf32>, tensor<1x64x128xf32>, tensor<1x128xf32>,
         tensor<1x128x64xf32>, tensor<1x64xf32>) -> !tokens

  %5 = ad.reshape %second : !tokens -> tensor<32x8x64xf32>
  %pooled = ad.reduce_mean %5 axes [1] : tensor<32x8x64xf32> -> tensor<32x64xf32>
  %6 = ad.dot %pooled, %head : (tensor<32x64xf32>, !head) -> !scores
  %7 = ad.add %6, %head_bias : !scores, !head_bias
  return %7 : !scores
}

// The mean cross entropy of one batch: what training makes small.
func.func private @loss(%embed: !embed, %position: !position, %attention: !attention, %norms: !norms,
                        %expand: !expand, %expand_bias: !expand_bias, %contract: !contract,
                        %contract_bias: !contract_bias, %head: !head, %head_bias: !head_bias,
                        %images: !digits, %labels: !labels) -> tensor<f32> {
  %scores = call @model(%embed, %position, %attention, %norms, %expand, %expand_bias, %contract, %contract_bias,
                        %head, %head_bias, %images)
      : (!embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias, !head, !head_bias,
         !digits) -> !scores
  %classes = ad.cast %labels : !labels -> tensor<32xi32>
  %losses = ad.cross_entropy %scores, %classes : !scores, tensor<32xi32> -> tensor<32xf32>
  %loss = ad.reduce_mean %losses axes [0] : tensor<32xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// Trains for 12 epochs of 44 batches by gradient descent with momentum 0.9, then reads the held-out digits.
func.func @main(%embed: !embed {ad.name = "embed", ad.parameter, ad.donated = 0},
                %position: !position {ad.name = "position", ad.parameter, ad.donated = 1},
                %attention: !attention {ad.name = "attention", ad.parameter, ad.donated = 2},
                %norms: !norms {ad.name = "norms", ad.parameter, ad.donated = 3},
                %expand: !expand {ad.name = "expand", ad.parameter, ad.donated = 4},
                %expand_bias: !expand_bias {ad.name = "expand_bias", ad.parameter, ad.donated = 5},
                %contract: !contract {ad.name = "contract", ad.parameter, ad.donated = 6},
                %contract_bias: !contract_bias {ad.name = "contract_bias", ad.parameter, ad.donated = 7},
                %head: !head {ad.name = "head", ad.parameter, ad.donated = 8},
                %head_bias: !head_bias {ad.name = "head_bias", ad.parameter, ad.donated = 9})
    -> (!embed {ad.name = "embed"}, !position {ad.name = "position"}, !attention {ad.name = "attention"},
        !norms {ad.name = "norms"}, !expand {ad.name = "expand"}, !expand_bias {ad.name = "expand_bias"},
        !contract {ad.name = "contract"}, !contract_bias {ad.name = "contract_bias"}, !head {ad.name = "head"},
        !head_bias {ad.name = "head_bias"}, tensor<f32> {ad.name = "accuracy"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 528 : index
  %momentum = ad.constant dense<0.9> : tensor<f32>
  %v0 = ad.constant dense<0.0> : !embed
  %v1 = ad.constant dense<0.0> : !position
  %v2 = ad.constant dense<0.0> : !attention
  %v3 = ad.constant dense<0.0> : !norms
  %v4 = ad.constant dense<0.0> : !expand
  %v5 = ad.constant dense<0.0> : !expand_bias
  %v6 = ad.constant dense<0.0> : !contract
  %v7 = ad.constant dense<0.0> : !contract_bias
  %v8 = ad.constant dense<0.0> : !head
  %v9 = ad.constant dense<0.0> : !head_bias

  // The parameters p0 to p9 and their velocities u0 to u9; d0 to d9 are the gradients.
  %trained:20 = scf.for %step = %c0 to %steps step %c1
      iter_args(%p0 = %embed, %p1 = %position, %p2 = %attention, %p3 = %norms, %p4 = %expand, %p5 = %expand_bias,
                %p6 = %contract, %p7 = %contract_bias, %p8 = %head, %p9 = %head_bias,
                %u0 = %v0, %u1 = %v1, %u2 = %v2, %u3 = %v3, %u4 = %v4, %u5 = %v5, %u6 = %v6, %u7 = %v7, %u8 = %v8,
                %u9 = %v9)
      -> (!embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias, !head, !head_bias,
          !embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias, !head, !head_bias) {
    %images = ad.feed "images" : !digits
    %labels = ad.feed "labels" : !labels
    %rate = ad.feed "rate" : tensor<f32>
    %loss, %d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8, %d9 = ad.value_and_grad
        @loss(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %images, %labels) wrt [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        : (!embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias, !head, !head_bias,
           !digits, !labels)
        -> (tensor<f32>, !embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias,
            !head, !head_bias)
    ad.receive "loss"(%loss) : tensor<f32>

    // velocity = momentum * velocity + gradient
    %m0 = ad.mul %u0, %momentum : !embed, tensor<f32>
    %m1 = ad.mul %u1, %momentum : !position, tensor<f32>
    %m2 = ad.mul %u2, %momentum : !attention, tensor<f32>
    %m3 = ad.mul %u3, %momentum : !norms, tensor<f32>
    %m4 = ad.mul %u4, %momentum : !expand, tensor<f32>
    %m5 = ad.mul %u5, %momentum : !expand_bias, tensor<f32>
    %m6 = ad.mul %u6, %momentum : !contract, tensor<f32>
    %m7 = ad.mul %u7, %momentum : !contract_bias, tensor<f32>
    %m8 = ad.mul %u8, %momentum : !head, tensor<f32>
    %m9 = ad.mul %u9, %momentum : !head_bias, tensor<f32>
    %w0 = ad.add %m0, %d0 : !embed
    %w1 = ad.add %m1, %d1 : !position
    %w2 = ad.add %m2, %d2 : !attention
    %w3 = ad.add %m3, %d3 : !norms
    %w4 = ad.add %m4, %d4 : !expand
    %w5 = ad.add %m5, %d5 : !expand_bias
    %w6 = ad.add %m6, %d6 : !contract
    %w7 = ad.add %m7, %d7 : !contract_bias
    %w8 = ad.add %m8, %d8 : !head
    %w9 = ad.add %m9, %d9 : !head_bias

    // parameter = parameter - rate * velocity
    %s0 = ad.mul %w0, %rate : !embed, tensor<f32>
    %s1 = ad.mul %w1, %rate : !position, tensor<f32>
    %s2 = ad.mul %w2, %rate : !attention, tensor<f32>
    %s3 = ad.mul %w3, %rate : !norms, tensor<f32>
    %s4 = ad.mul %w4, %rate : !expand, tensor<f32>
    %s5 = ad.mul %w5, %rate : !expand_bias, tensor<f32>
    %s6 = ad.mul %w6, %rate : !contract, tensor<f32>
    %s7 = ad.mul %w7, %rate : !contract_bias, tensor<f32>
    %s8 = ad.mul %w8, %rate : !head, tensor<f32>
    %s9 = ad.mul %w9, %rate : !head_bias, tensor<f32>
    %q0 = ad.sub %p0, %s0 : !embed
    %q1 = ad.sub %p1, %s1 : !position
    %q2 = ad.sub %p2, %s2 : !attention
    %q3 = ad.sub %p3, %s3 : !norms
    %q4 = ad.sub %p4, %s4 : !expand
    %q5 = ad.sub %p5, %s5 : !expand_bias
    %q6 = ad.sub %p6, %s6 : !contract
    %q7 = ad.sub %p7, %s7 : !contract_bias
    %q8 = ad.sub %p8, %s8 : !head
    %q9 = ad.sub %p9, %s9 : !head_bias
    scf.yield %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9, %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7, %w8, %w9
        : !embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias, !head, !head_bias,
          !embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias, !head, !head_bias
  }

  // 12 batches hold the 359 digits that training never saw; the rows that fill the last batch have the class -1.
  %batches = arith.constant 12 : index
  %none = ad.constant dense<0.0> : tensor<f32>
  %no_class = ad.constant dense<0> : tensor<i64>
  %read:2 = scf.for %batch = %c0 to %batches step %c1 iter_args(%right = %none, %seen = %none)
      -> (tensor<f32>, tensor<f32>) {
    %images = ad.feed "test_images" : !digits
    %labels = ad.feed "test_labels" : !labels
    %scores = func.call @model(%trained#0, %trained#1, %trained#2, %trained#3, %trained#4, %trained#5, %trained#6,
                               %trained#7, %trained#8, %trained#9, %images)
        : (!embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias, !head, !head_bias,
           !digits) -> !scores
    %guesses = ad.argmax %scores axis 1 : !scores
    %classes = ad.cast %labels : !labels -> tensor<32xi64>
    %hit = ad.compare eq %guesses, %classes : tensor<32xi64>
    %digit = ad.compare ge %classes, %no_class : tensor<32xi64>, tensor<i64>
    %hit_f32 = ad.cast %hit : tensor<32xi1> -> tensor<32xf32>
    %digit_f32 = ad.cast %digit : tensor<32xi1> -> tensor<32xf32>
    %hits = ad.reduce_sum %hit_f32 axes [0] : tensor<32xf32> -> tensor<f32>
    %digits = ad.reduce_sum %digit_f32 axes [0] : tensor<32xf32> -> tensor<f32>
    %more_right = ad.add %right, %hits : tensor<f32>
    %more_seen = ad.add %seen, %digits : tensor<f32>
    scf.yield %more_right, %more_seen : tensor<f32>, tensor<f32>
  }
  %accuracy = ad.div %read#0, %read#1 : tensor<f32>
  return %trained#0, %trained#1, %trained#2, %trained#3, %trained#4, %trained#5, %trained#6, %trained#7, %trained#8,
         %trained#9, %accuracy
      : !embed, !position, !attention, !norms, !expand, !expand_bias, !contract, !contract_bias, !head, !head_bias,
        tensor<f32>
}
