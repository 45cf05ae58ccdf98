// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A convolutional network learns to read digits of 8 x 8 pixels: two convolutions of 3 x 3 pixels, each with the largest
// of 2 x 2 neighbours after it, and one product. The host feeds batches of 32 digits and receives the loss of each step.

// Where pixels 0 to 16 come in, scores of the ten digits come out.
func.func private @model(%images: tensor<32x64xi8>, %first: tensor<3x3x1x16xf32>, %first_bias: tensor<16xf32>,
                         %second: tensor<3x3x16x32xf32>, %second_bias: tensor<32xf32>,
                         %head: tensor<128x10xf32>, %head_bias: tensor<10xf32>) -> tensor<32x10xf32> {
  %scale = ad.constant dense<0.0625> : tensor<f32>
  %raw = ad.cast %images : tensor<32x64xi8> -> tensor<32x64xf32>
  %scaled = ad.mul %raw, %scale : tensor<32x64xf32>, tensor<f32>
  %pixels = ad.reshape %scaled : tensor<32x64xf32> -> tensor<32x8x8x1xf32>

  // A border of one pixel keeps the size; b is the batch, 0 and 1 are the axes of the window, c and o channels.
  %0 = ad.conv %pixels, %first dims "b01c,01co->b01o" low [1, 1] high [1, 1]
      : (tensor<32x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<32x8x8x16xf32>
  %1 = ad.add %0, %first_bias : tensor<32x8x8x16xf32>, tensor<16xf32>
  %2 = ad.relu %1 : tensor<32x8x8x16xf32>
  %edges = ad.reduce_window max %2 window [1, 2, 2, 1] strides [1, 2, 2, 1] : tensor<32x8x8x16xf32>
  %3 = ad.conv %edges, %second dims "b01c,01co->b01o" low [1, 1] high [1, 1]
      : (tensor<32x4x4x16xf32>, tensor<3x3x16x32xf32>) -> tensor<32x4x4x32xf32>
  %4 = ad.add %3, %second_bias : tensor<32x4x4x32xf32>, tensor<32xf32>
  %5 = ad.relu %4 : tensor<32x4x4x32xf32>
  %parts = ad.reduce_window max %5 window [1, 2, 2, 1] strides [1, 2, 2, 1] : tensor<32x4x4x32xf32>

  %features = ad.reshape %parts : tensor<32x2x2x32xf32> -> tensor<32x128xf32>
  %6 = ad.dot %features, %head : (tensor<32x128xf32>, tensor<128x10xf32>) -> tensor<32x10xf32>
  %scores = ad.add %6, %head_bias : tensor<32x10xf32>, tensor<10xf32>
  return %scores : tensor<32x10xf32>
}

// The mean cross entropy of one batch: what training makes small.
func.func private @loss(%first: tensor<3x3x1x16xf32>, %first_bias: tensor<16xf32>, %second: tensor<3x3x16x32xf32>,
                        %second_bias: tensor<32xf32>, %head: tensor<128x10xf32>, %head_bias: tensor<10xf32>,
                        %images: tensor<32x64xi8>, %labels: tensor<32xi8>) -> tensor<f32> {
  %scores = call @model(%images, %first, %first_bias, %second, %second_bias, %head, %head_bias)
      : (tensor<32x64xi8>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>,
         tensor<128x10xf32>, tensor<10xf32>) -> tensor<32x10xf32>
  %classes = ad.cast %labels : tensor<32xi8> -> tensor<32xi32>
  %losses = ad.cross_entropy %scores, %classes : tensor<32x10xf32>, tensor<32xi32> -> tensor<32xf32>
  %loss = ad.reduce_mean %losses axes [0] : tensor<32xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// Trains for 20 epochs of 44 batches by gradient descent with momentum 0.9, then reads the held-out digits. The host
// feeds the rate of each step.
func.func @main(%first: tensor<3x3x1x16xf32> {ad.name = "first", ad.parameter, ad.donated = 0},
                %first_bias: tensor<16xf32> {ad.name = "first_bias", ad.parameter, ad.donated = 1},
                %second: tensor<3x3x16x32xf32> {ad.name = "second", ad.parameter, ad.donated = 2},
                %second_bias: tensor<32xf32> {ad.name = "second_bias", ad.parameter, ad.donated = 3},
                %head: tensor<128x10xf32> {ad.name = "head", ad.parameter, ad.donated = 4},
                %head_bias: tensor<10xf32> {ad.name = "head_bias", ad.parameter, ad.donated = 5})
    -> (tensor<3x3x1x16xf32> {ad.name = "first"},
        tensor<16xf32> {ad.name = "first_bias"},
        tensor<3x3x16x32xf32> {ad.name = "second"},
        tensor<32xf32> {ad.name = "second_bias"},
        tensor<128x10xf32> {ad.name = "head"},
        tensor<10xf32> {ad.name = "head_bias"},
        tensor<f32> {ad.name = "accuracy"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 880 : index
  %momentum = ad.constant dense<0.9> : tensor<f32>
  %still_fw = ad.constant dense<0.0> : tensor<3x3x1x16xf32>
  %still_fb = ad.constant dense<0.0> : tensor<16xf32>
  %still_sw = ad.constant dense<0.0> : tensor<3x3x16x32xf32>
  %still_sb = ad.constant dense<0.0> : tensor<32xf32>
  %still_hw = ad.constant dense<0.0> : tensor<128x10xf32>
  %still_hb = ad.constant dense<0.0> : tensor<10xf32>

  // fw, fb, sw, sb, hw and hb are the six parameters, v… their velocities and d… their gradients.
  %trained:12 = scf.for %step = %c0 to %steps step %c1
      iter_args(%fw = %first, %fb = %first_bias, %sw = %second, %sb = %second_bias, %hw = %head, %hb = %head_bias,
                %vfw = %still_fw, %vfb = %still_fb, %vsw = %still_sw, %vsb = %still_sb, %vhw = %still_hw,
                %vhb = %still_hb)
      -> (tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<128x10xf32>,
          tensor<10xf32>,
          tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<128x10xf32>,
          tensor<10xf32>) {
    %images = ad.feed "images" : tensor<32x64xi8>
    %labels = ad.feed "labels" : tensor<32xi8>
    %rate = ad.feed "rate" : tensor<f32>
    %loss, %dfw, %dfb, %dsw, %dsb, %dhw, %dhb = ad.value_and_grad @loss(%fw, %fb, %sw, %sb, %hw, %hb, %images, %labels)
        wrt [0, 1, 2, 3, 4, 5]
        : (tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<128x10xf32>,
           tensor<10xf32>, tensor<32x64xi8>, tensor<32xi8>)
        -> (tensor<f32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>,
            tensor<128x10xf32>, tensor<10xf32>)
    ad.receive "loss"(%loss) : tensor<f32>

    // velocity = momentum * velocity + gradient
    %kfw = ad.mul %vfw, %momentum : tensor<3x3x1x16xf32>, tensor<f32>
    %kfb = ad.mul %vfb, %momentum : tensor<16xf32>, tensor<f32>
    %ksw = ad.mul %vsw, %momentum : tensor<3x3x16x32xf32>, tensor<f32>
    %ksb = ad.mul %vsb, %momentum : tensor<32xf32>, tensor<f32>
    %khw = ad.mul %vhw, %momentum : tensor<128x10xf32>, tensor<f32>
    %khb = ad.mul %vhb, %momentum : tensor<10xf32>, tensor<f32>
    %nvfw = ad.add %kfw, %dfw : tensor<3x3x1x16xf32>
    %nvfb = ad.add %kfb, %dfb : tensor<16xf32>
    %nvsw = ad.add %ksw, %dsw : tensor<3x3x16x32xf32>
    %nvsb = ad.add %ksb, %dsb : tensor<32xf32>
    %nvhw = ad.add %khw, %dhw : tensor<128x10xf32>
    %nvhb = ad.add %khb, %dhb : tensor<10xf32>

    // parameter = parameter - rate * velocity
    %sfw = ad.mul %nvfw, %rate : tensor<3x3x1x16xf32>, tensor<f32>
    %sfb = ad.mul %nvfb, %rate : tensor<16xf32>, tensor<f32>
    %ssw = ad.mul %nvsw, %rate : tensor<3x3x16x32xf32>, tensor<f32>
    %ssb = ad.mul %nvsb, %rate : tensor<32xf32>, tensor<f32>
    %shw = ad.mul %nvhw, %rate : tensor<128x10xf32>, tensor<f32>
    %shb = ad.mul %nvhb, %rate : tensor<10xf32>, tensor<f32>
    %nfw = ad.sub %fw, %sfw : tensor<3x3x1x16xf32>
    %nfb = ad.sub %fb, %sfb : tensor<16xf32>
    %nsw = ad.sub %sw, %ssw : tensor<3x3x16x32xf32>
    %nsb = ad.sub %sb, %ssb : tensor<32xf32>
    %nhw = ad.sub %hw, %shw : tensor<128x10xf32>
    %nhb = ad.sub %hb, %shb : tensor<10xf32>
    scf.yield %nfw, %nfb, %nsw, %nsb, %nhw, %nhb, %nvfw, %nvfb, %nvsw, %nvsb, %nvhw, %nvhb
        : tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<128x10xf32>,
          tensor<10xf32>,
          tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<128x10xf32>,
          tensor<10xf32>
  }

  // 12 batches hold the 359 digits that training never saw; the rows that fill the last batch have the class -1.
  %batches = arith.constant 12 : index
  %none = ad.constant dense<0.0> : tensor<f32>
  %no_class = ad.constant dense<0> : tensor<i64>
  %read:2 = scf.for %batch = %c0 to %batches step %c1 iter_args(%right = %none, %seen = %none)
      -> (tensor<f32>, tensor<f32>) {
    %images = ad.feed "test_images" : tensor<32x64xi8>
    %labels = ad.feed "test_labels" : tensor<32xi8>
    %scores = func.call @model(%images, %trained#0, %trained#1, %trained#2, %trained#3, %trained#4, %trained#5)
        : (tensor<32x64xi8>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>,
           tensor<128x10xf32>, tensor<10xf32>) -> tensor<32x10xf32>
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
  return %trained#0, %trained#1, %trained#2, %trained#3, %trained#4, %trained#5, %accuracy
      : tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<128x10xf32>, tensor<10xf32>,
        tensor<f32>
}
