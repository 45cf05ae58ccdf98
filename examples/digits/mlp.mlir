// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A perceptron with one hidden layer learns to read digits of 8 x 8 pixels. The whole training run is this one program:
// the host only feeds batches of 32 digits and receives the loss of each step.

// Where pixels 0 to 16 come in, scores of the ten digits come out.
func.func private @model(%images: tensor<32x64xi8>, %hidden_weight: tensor<64x128xf32>, %hidden_bias: tensor<128xf32>,
                         %output_weight: tensor<128x10xf32>, %output_bias: tensor<10xf32>) -> tensor<32x10xf32> {
  %scale = ad.constant dense<0.0625> : tensor<f32>
  %raw = ad.cast %images : tensor<32x64xi8> -> tensor<32x64xf32>
  %pixels = ad.mul %raw, %scale : tensor<32x64xf32>, tensor<f32>
  %0 = ad.dot %pixels, %hidden_weight : (tensor<32x64xf32>, tensor<64x128xf32>) -> tensor<32x128xf32>
  %1 = ad.add %0, %hidden_bias : tensor<32x128xf32>, tensor<128xf32>
  %hidden = ad.relu %1 : tensor<32x128xf32>
  %2 = ad.dot %hidden, %output_weight : (tensor<32x128xf32>, tensor<128x10xf32>) -> tensor<32x10xf32>
  %scores = ad.add %2, %output_bias : tensor<32x10xf32>, tensor<10xf32>
  return %scores : tensor<32x10xf32>
}

// The mean cross entropy of one batch: what training makes small.
func.func private @loss(%hidden_weight: tensor<64x128xf32>, %hidden_bias: tensor<128xf32>,
                        %output_weight: tensor<128x10xf32>, %output_bias: tensor<10xf32>,
                        %images: tensor<32x64xi8>, %labels: tensor<32xi8>) -> tensor<f32> {
  %scores = call @model(%images, %hidden_weight, %hidden_bias, %output_weight, %output_bias)
      : (tensor<32x64xi8>, tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>) -> tensor<32x10xf32>
  %classes = ad.cast %labels : tensor<32xi8> -> tensor<32xi32>
  %losses = ad.cross_entropy %scores, %classes : tensor<32x10xf32>, tensor<32xi32> -> tensor<32xf32>
  %loss = ad.reduce_mean %losses axes [0] : tensor<32xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// Trains for 20 epochs of 44 batches by gradient descent, rate 0.1 and momentum 0.9, then reads the held-out digits.
func.func @main(%hidden_weight: tensor<64x128xf32> {ad.name = "hidden_weight", ad.parameter, ad.donated = 0},
                %hidden_bias: tensor<128xf32> {ad.name = "hidden_bias", ad.parameter, ad.donated = 1},
                %output_weight: tensor<128x10xf32> {ad.name = "output_weight", ad.parameter, ad.donated = 2},
                %output_bias: tensor<10xf32> {ad.name = "output_bias", ad.parameter, ad.donated = 3})
    -> (tensor<64x128xf32> {ad.name = "hidden_weight"}, tensor<128xf32> {ad.name = "hidden_bias"},
        tensor<128x10xf32> {ad.name = "output_weight"}, tensor<10xf32> {ad.name = "output_bias"},
        tensor<f32> {ad.name = "accuracy"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 880 : index
  %momentum = ad.constant dense<0.9> : tensor<f32>
  %rate = ad.constant dense<0.1> : tensor<f32>
  %still_hw = ad.constant dense<0.0> : tensor<64x128xf32>
  %still_hb = ad.constant dense<0.0> : tensor<128xf32>
  %still_ow = ad.constant dense<0.0> : tensor<128x10xf32>
  %still_ob = ad.constant dense<0.0> : tensor<10xf32>

  // hw, hb, ow and ob are the four parameters, v… their velocities and d… their gradients.
  %trained:8 = scf.for %step = %c0 to %steps step %c1
      iter_args(%hw = %hidden_weight, %hb = %hidden_bias, %ow = %output_weight, %ob = %output_bias,
                %vhw = %still_hw, %vhb = %still_hb, %vow = %still_ow, %vob = %still_ob)
      -> (tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>,
          tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>) {
    %images = ad.feed "images" : tensor<32x64xi8>
    %labels = ad.feed "labels" : tensor<32xi8>
    %loss, %dhw, %dhb, %dow, %dob = ad.value_and_grad @loss(%hw, %hb, %ow, %ob, %images, %labels) wrt [0, 1, 2, 3]
        : (tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>, tensor<32x64xi8>, tensor<32xi8>)
        -> (tensor<f32>, tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>)
    ad.receive "loss"(%loss) : tensor<f32>

    // velocity = momentum * velocity + gradient
    %khw = ad.mul %vhw, %momentum : tensor<64x128xf32>, tensor<f32>
    %khb = ad.mul %vhb, %momentum : tensor<128xf32>, tensor<f32>
    %kow = ad.mul %vow, %momentum : tensor<128x10xf32>, tensor<f32>
    %kob = ad.mul %vob, %momentum : tensor<10xf32>, tensor<f32>
    %nvhw = ad.add %khw, %dhw : tensor<64x128xf32>
    %nvhb = ad.add %khb, %dhb : tensor<128xf32>
    %nvow = ad.add %kow, %dow : tensor<128x10xf32>
    %nvob = ad.add %kob, %dob : tensor<10xf32>

    // parameter = parameter - rate * velocity
    %shw = ad.mul %nvhw, %rate : tensor<64x128xf32>, tensor<f32>
    %shb = ad.mul %nvhb, %rate : tensor<128xf32>, tensor<f32>
    %sow = ad.mul %nvow, %rate : tensor<128x10xf32>, tensor<f32>
    %sob = ad.mul %nvob, %rate : tensor<10xf32>, tensor<f32>
    %nhw = ad.sub %hw, %shw : tensor<64x128xf32>
    %nhb = ad.sub %hb, %shb : tensor<128xf32>
    %now = ad.sub %ow, %sow : tensor<128x10xf32>
    %nob = ad.sub %ob, %sob : tensor<10xf32>
    scf.yield %nhw, %nhb, %now, %nob, %nvhw, %nvhb, %nvow, %nvob
        : tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>,
          tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>
  }

  // 12 batches hold the 359 digits that training never saw; the rows that fill the last batch have the class -1.
  %batches = arith.constant 12 : index
  %none = ad.constant dense<0.0> : tensor<f32>
  %no_class = ad.constant dense<0> : tensor<i64>
  %read:2 = scf.for %batch = %c0 to %batches step %c1 iter_args(%right = %none, %seen = %none)
      -> (tensor<f32>, tensor<f32>) {
    %images = ad.feed "test_images" : tensor<32x64xi8>
    %labels = ad.feed "test_labels" : tensor<32xi8>
    %scores = func.call @model(%images, %trained#0, %trained#1, %trained#2, %trained#3)
        : (tensor<32x64xi8>, tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>)
        -> tensor<32x10xf32>
    %guesses = ad.argmax %scores axis 1 : tensor<32x10xf32>
    %classes = ad.cast %labels : tensor<32xi8> -> tensor<32xi64>
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
  return %trained#0, %trained#1, %trained#2, %trained#3, %accuracy
      : tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>, tensor<f32>
}
