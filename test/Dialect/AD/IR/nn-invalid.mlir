// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @softmax_c1_axis(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.softmax' op expected an axis from 0 to 1, but got 2}}
  %y = ad.softmax %x axis 2 : tensor<4x3xf32>
  return
}

// -----

func.func @log_softmax_c1_rank_0(%x: tensor<f32>) {
  // expected-error @+1 {{'ad.log_softmax' op expected an operand of rank 1 or more, but its rank is 0}}
  %y = ad.log_softmax %x axis 0 : tensor<f32>
  return
}

// -----

func.func @layer_norm_c1_rank_0(%x: tensor<f32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'ad.layer_norm' op expected an input of rank 1 or more, but its rank is 0}}
  %y = ad.layer_norm %x, %s, %s epsilon 0.0 : tensor<f32>, tensor<8xf32>
  return
}

// -----

func.func @layer_norm_c2_size(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'ad.layer_norm' op expected parameters of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %y = ad.layer_norm %x, %s, %s epsilon 0.0 : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @layer_norm_c3_epsilon(%x: tensor<4x8xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'ad.layer_norm' op expected a finite epsilon of at least 0, but got -1.000000e+00}}
  %y = ad.layer_norm %x, %s, %s epsilon -1.0 : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_c1_rank_0(%x: tensor<f32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'ad.rms_norm' op expected an input of rank 1 or more, but its rank is 0}}
  %y = ad.rms_norm %x, %s epsilon 0.0 : tensor<f32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_c2_element_type(%x: tensor<4x8xf32>, %s: tensor<8xf16>) {
  // expected-error @+1 {{'ad.rms_norm' op expected parameters of type 'tensor<8xf32>', but got 'tensor<8xf16>'}}
  %y = ad.rms_norm %x, %s epsilon 0.0 : tensor<4x8xf32>, tensor<8xf16>
  return
}

// -----

func.func @rms_norm_c3_epsilon(%x: tensor<4x8xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'ad.rms_norm' op expected a finite epsilon of at least 0}}
  %y = ad.rms_norm %x, %s epsilon 0x7FF0000000000000 : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @cross_entropy_c1_rank_0(%x: tensor<f32>, %c: tensor<i32>) {
  // expected-error @+1 {{'ad.cross_entropy' op expected logits of rank 1 or more, but their rank is 0}}
  %y = ad.cross_entropy %x, %c : tensor<f32>, tensor<i32> -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_c2_labels(%x: tensor<4x8xf32>, %c: tensor<4xi8>) {
  // expected-error @+1 {{'ad.cross_entropy' op expected labels with elements of type 'f32', i32 or i64, but got 'i8'}}
  %y = ad.cross_entropy %x, %c : tensor<4x8xf32>, tensor<4xi8> -> tensor<4xf32>
  return
}

// -----

func.func @cross_entropy_c3_classes(%x: tensor<4x8xf32>, %c: tensor<8xi32>) {
  // expected-error @+1 {{'ad.cross_entropy' op expected labels of shape 4, but got 8}}
  %y = ad.cross_entropy %x, %c : tensor<4x8xf32>, tensor<8xi32> -> tensor<4xf32>
  return
}

// -----

func.func @cross_entropy_c3_probabilities(%x: tensor<4x8xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'ad.cross_entropy' op expected labels of shape 4x8, but got 4}}
  %y = ad.cross_entropy %x, %c : tensor<4x8xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @cross_entropy_c4_result(%x: tensor<4x8xf32>, %c: tensor<4xi32>) {
  // expected-error @+1 {{'ad.cross_entropy' op expected a result of type 'tensor<4xf32>', but got 'tensor<f32>'}}
  %y = ad.cross_entropy %x, %c : tensor<4x8xf32>, tensor<4xi32> -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_c5_probabilities(%x: tensor<4x8xf32>, %p: tensor<4x8xf32>) {
  // expected-error @+1 {{'ad.cross_entropy' op expected class numbers with 'ignored', but got labels of type 'f32'}}
  %y = ad.cross_entropy %x, %p ignored 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @cross_entropy_c5_number(%x: tensor<4x8xf32>, %c: tensor<4xi32>) {
  // expected-error @+1 {{'ad.cross_entropy' op expected 'ignored' to be a number of type 'i32', but got -3000000000}}
  %y = ad.cross_entropy %x, %c ignored -3000000000 : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}
