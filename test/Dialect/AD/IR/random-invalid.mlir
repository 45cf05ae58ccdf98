// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @rng_bits_c1_shapes(%key: tensor<3xi64>, %counter: tensor<4xi64>) {
  // expected-error @+1 {{'ad.rng_bits' op operand shapes do not broadcast: dimension 0 has sizes 3 and 4}}
  %y = ad.rng_bits %key, %counter : tensor<3xi64>, tensor<4xi64> -> tensor<4xi32>
  return
}

// -----

func.func @rng_bits_c2_result(%key: tensor<i64>, %counter: tensor<?xi64>) {
  // expected-error @+1 {{'ad.rng_bits' op expected a result of type 'tensor<?xi32>', but got 'tensor<4xi32>'}}
  %y = ad.rng_bits %key, %counter : tensor<i64>, tensor<?xi64> -> tensor<4xi32>
  return
}

// -----

func.func @rng_uniform_c1_shapes(%key: tensor<3xi64>, %counter: tensor<4xi64>) {
  // expected-error @+1 {{'ad.rng_uniform' op operand shapes do not broadcast: dimension 0 has sizes 3 and 4}}
  %y = ad.rng_uniform %key, %counter : tensor<3xi64>, tensor<4xi64> -> tensor<4xf32>
  return
}

// -----

func.func @rng_uniform_c2_result(%key: tensor<i64>, %counter: tensor<?xi64>) {
  // expected-error @+1 {{'ad.rng_uniform' op expected a result of type 'tensor<?xf32>', but got 'tensor<4xf32>'}}
  %y = ad.rng_uniform %key, %counter : tensor<i64>, tensor<?xi64> -> tensor<4xf32>
  return
}

// -----

func.func @rng_normal_c1_shapes(%key: tensor<3xi64>, %counter: tensor<4xi64>) {
  // expected-error @+1 {{'ad.rng_normal' op operand shapes do not broadcast: dimension 0 has sizes 3 and 4}}
  %y = ad.rng_normal %key, %counter : tensor<3xi64>, tensor<4xi64> -> tensor<4xf64>
  return
}

// -----

func.func @rng_normal_c2_result(%key: tensor<i64>, %counter: tensor<?xi64>) {
  // expected-error @+1 {{'ad.rng_normal' op expected a result of type 'tensor<?xf64>', but got 'tensor<4xf64>'}}
  %y = ad.rng_normal %key, %counter : tensor<i64>, tensor<?xi64> -> tensor<4xf64>
  return
}

// -----

func.func @cast_stochastic_c1_shapes(%x: tensor<4xf32>, %key: tensor<i64>, %counter: tensor<3xi64>) {
  // expected-error @+1 {{'ad.cast_stochastic' op operand shapes do not broadcast: dimension 0 has sizes 4 and 3}}
  %y = ad.cast_stochastic %x, %key, %counter : tensor<4xf32>, tensor<i64>, tensor<3xi64> -> tensor<4xbf16>
  return
}

// -----

func.func @cast_stochastic_c2_result(%x: tensor<4xf32>, %key: tensor<i64>, %counter: tensor<3x1xi64>) {
  // expected-error @+1 {{'ad.cast_stochastic' op expected a result of type 'tensor<3x4xbf16>', but got 'tensor<4xbf16>'}}
  %y = ad.cast_stochastic %x, %key, %counter : tensor<4xf32>, tensor<i64>, tensor<3x1xi64> -> tensor<4xbf16>
  return
}

// -----

func.func @rng_bits_i_counter_element(%k: tensor<i64>, %c: tensor<4xi32>, %x: tensor<f32>) {
  // expected-error @+1 {{'ad.rng_bits' op operand #1 must be tensor of i64, but got 'tensor<4xi32>'}}
  %y = ad.rng_bits %k, %c : tensor<i64>, tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @rng_bits_i_result_element(%k: tensor<i64>, %c: tensor<4xi32>, %x: tensor<f32>) {
  // expected-error @+1 {{'ad.rng_bits' op result #0 must be tensor of i32 or i64, but got 'tensor<i8>'}}
  %y = ad.rng_bits %k, %k : tensor<i64>, tensor<i64> -> tensor<i8>
  return
}

// -----

func.func @rng_uniform_i_result_element(%k: tensor<i64>, %c: tensor<4xi32>, %x: tensor<f32>) {
  // expected-error @+1 {{'ad.rng_uniform' op result #0 must be tensor of f64 or f32, but got 'tensor<bf16>'}}
  %y = ad.rng_uniform %k, %k : tensor<i64>, tensor<i64> -> tensor<bf16>
  return
}

// -----

func.func @rng_normal_i_result_element(%k: tensor<i64>, %c: tensor<4xi32>, %x: tensor<f32>) {
  // expected-error @+1 {{'ad.rng_normal' op result #0 must be tensor of f64 or f32, but got 'tensor<i64>'}}
  %y = ad.rng_normal %k, %k : tensor<i64>, tensor<i64> -> tensor<i64>
  return
}

// -----

func.func @cast_stochastic_i_result_element(%k: tensor<i64>, %c: tensor<4xi32>, %x: tensor<f32>) {
  // expected-error @+1 {{'ad.cast_stochastic' op result #0 must be tensor of f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<f32>'}}
  %y = ad.cast_stochastic %x, %k, %k : tensor<f32>, tensor<i64>, tensor<i64> -> tensor<f32>
  return
}
