// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @one_hot_c1_shape(%i: tensor<4xi32>) {
  // expected-error @+1 {{expected a result of shape 4 with one more axis 1, but got 5x10}}
  %y = ad.one_hot %i axis 1 : tensor<4xi32> -> tensor<5x10xf32>
  return
}

// -----

func.func @one_hot_c1_axis(%i: tensor<4xi32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, but got 2}}
  %y = ad.one_hot %i axis 2 : tensor<4xi32> -> tensor<4x10xf32>
  return
}

// -----

func.func @one_hot_c1_rank(%i: tensor<4xi32>) {
  // expected-error @+1 {{expected a result of shape 4 with one more axis 0, but got 4}}
  %y = ad.one_hot %i axis 0 : tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @one_hot_c2_open(%i: tensor<4xi32>) {
  // expected-error @+1 {{expected a static size along axis 1, but got}}
  %y = ad.one_hot %i axis 1 : tensor<4xi32> -> tensor<4x?xf32>
  return
}

// -----

func.func @logsumexp_c1_axis(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, but got 2}}
  %y = ad.logsumexp %x axis 2 : tensor<4x3xf32>
  return
}

// -----

func.func @rotary_embedding_c1_odd(%x: tensor<4x3xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{expected a static and even size of the last axis, but got}}
  %y = ad.rotary_embedding %x, %p base 1.0e4 : tensor<4x3xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotary_embedding_c1_open(%x: tensor<4x?xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{expected a static and even size of the last axis, but got}}
  %y = ad.rotary_embedding %x, %p base 1.0e4 : tensor<4x?xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotary_embedding_c1_scalar(%x: tensor<f32>, %p: tensor<i32>) {
  // expected-error @+1 {{expected a static and even size of the last axis, but got}}
  %y = ad.rotary_embedding %x, %p base 1.0e4 : tensor<f32>, tensor<i32>
  return
}

// -----

func.func @rotary_embedding_c2_positions(%x: tensor<4x6xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{expected positions that broadcast to 4, but got 3}}
  %y = ad.rotary_embedding %x, %p base 1.0e4 : tensor<4x6xf32>, tensor<3xi32>
  return
}

// -----

func.func @rotary_embedding_c2_rank(%x: tensor<4x6xf32>, %p: tensor<1x4xi32>) {
  // expected-error @+1 {{expected positions that broadcast to 4, but got 1x4}}
  %y = ad.rotary_embedding %x, %p base 1.0e4 : tensor<4x6xf32>, tensor<1x4xi32>
  return
}

// -----

func.func @rotary_embedding_c3_base(%x: tensor<4x6xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{expected a finite and positive base, but got}}
  %y = ad.rotary_embedding %x, %p base 0.0 : tensor<4x6xf32>, tensor<4xi32>
  return
}

// -----

func.func @dropout_c1_one(%x: tensor<4xf32>, %k: tensor<i64>) {
  // expected-error @+1 {{expected a rate of at least 0 and, in f32, below 1, but got}}
  %y = ad.dropout %x, %k, %k rate 1.0 : tensor<4xf32>
  return
}

// -----

func.func @dropout_c1_negative(%x: tensor<4xf32>, %k: tensor<i64>) {
  // expected-error @+1 {{expected a rate of at least 0 and, in f32, below 1, but got}}
  %y = ad.dropout %x, %k, %k rate -0.5 : tensor<4xf32>
  return
}

// -----

func.func @dropout_c1_nan(%x: tensor<4xf32>, %k: tensor<i64>) {
  // expected-error @+1 {{expected a rate of at least 0 and, in f32, below 1, but got}}
  %y = ad.dropout %x, %k, %k rate 0x7FF8000000000000 : tensor<4xf32>
  return
}

// -----

func.func @group_norm_c1_axis(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected an axis of channels from 1 to 2, but got 3}}
  %y = ad.group_norm %x, %s, %s groups 2 axis 3 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @group_norm_c2_open(%x: tensor<4x?x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected a static number of channels, but got}}
  %y = ad.group_norm %x, %s, %s groups 2 axis 1 epsilon 1.0e-5 : tensor<4x?x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @group_norm_c3_parameters(%x: tensor<4x8x3xf32>, %s: tensor<7xf32>) {
  // expected-error @+1 {{expected parameters of type 'tensor<8xf32>', but got 'tensor<7xf32>'}}
  %y = ad.group_norm %x, %s, %s groups 2 axis 1 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<7xf32>
  return
}

// -----

func.func @group_norm_c4_epsilon(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected a finite epsilon of at least 0, but got}}
  %y = ad.group_norm %x, %s, %s groups 2 axis 1 epsilon -1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @group_norm_c1_batch(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected an axis of channels from 1 to 2, but got 0}}
  %y = ad.group_norm %x, %s, %s groups 2 axis 0 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @group_norm_c2_groups(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected a multiple of 3 groups as the number of channels, but got 8}}
  %y = ad.group_norm %x, %s, %s groups 3 axis 1 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @group_norm_c2_no_groups(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected at least one group, but got 0}}
  %y = ad.group_norm %x, %s, %s groups 0 axis 1 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_c1_axis(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected an axis of channels from 0 to 2, but got 3}}
  %y:3 = ad.batch_norm %x, %s, %s axis 3 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_c2_open(%x: tensor<4x?x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected a static number of channels, but got}}
  %y:3 = ad.batch_norm %x, %s, %s axis 1 epsilon 1.0e-5 : tensor<4x?x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_c3_parameters(%x: tensor<4x8x3xf32>, %s: tensor<7xf32>) {
  // expected-error @+1 {{expected parameters of type 'tensor<8xf32>', but got 'tensor<7xf32>'}}
  %y:3 = ad.batch_norm %x, %s, %s axis 1 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<7xf32>
  return
}

// -----

func.func @batch_norm_c4_epsilon(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected a finite epsilon of at least 0, but got}}
  %y:3 = ad.batch_norm %x, %s, %s axis 1 epsilon -1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_inference_c1_axis(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected an axis of channels from 0 to 2, but got 3}}
  %y = ad.batch_norm_inference %x, %s, %s, %s, %s axis 3 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_inference_c2_open(%x: tensor<4x?x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected a static number of channels, but got}}
  %y = ad.batch_norm_inference %x, %s, %s, %s, %s axis 1 epsilon 1.0e-5 : tensor<4x?x3xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_inference_c3_parameters(%x: tensor<4x8x3xf32>, %s: tensor<7xf32>) {
  // expected-error @+1 {{expected parameters of type 'tensor<8xf32>', but got 'tensor<7xf32>'}}
  %y = ad.batch_norm_inference %x, %s, %s, %s, %s axis 1 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<7xf32>, tensor<7xf32>
  return
}

// -----

func.func @batch_norm_inference_c4_epsilon(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected a finite epsilon of at least 0, but got}}
  %y = ad.batch_norm_inference %x, %s, %s, %s, %s axis 1 epsilon -1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_inference_c3_statistics(%x: tensor<4x8x3xf32>, %s: tensor<8xf32>, %m: tensor<8xf64>) {
  // expected-error @+1 {{expected statistics of type 'tensor<8xf32>', but got 'tensor<8xf64>'}}
  %y = ad.batch_norm_inference %x, %s, %s, %m, %m axis 1 epsilon 1.0e-5 : tensor<4x8x3xf32>, tensor<8xf32>, tensor<8xf64>
  return
}

// -----

func.func @dropout_c1_rounds_to_one(%x: tensor<4xf32>, %k: tensor<i64>) {
  // expected-error @+1 {{expected a rate of at least 0 and, in f32, below 1, but got}}
  %y = ad.dropout %x, %k, %k rate 0.99999999 : tensor<4xf32>
  return
}
