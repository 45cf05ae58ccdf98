// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @reduce_c1_range(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.reduce_sum' op expected an axis from 0 to 1, but got 2}}
  %y = ad.reduce_sum %x axes [2] : tensor<4x3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c1_negative(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.reduce_prod' op expected an axis from 0 to 1, but got -1}}
  %y = ad.reduce_prod %x axes [-1] : tensor<4x3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c1_order(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.reduce_mean' op expected ascending axes without repetition, but got 1 before 0}}
  %y = ad.reduce_mean %x axes [1, 0] : tensor<4x3xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c1_rank_0(%x: tensor<f32>) {
  // expected-error @+1 {{'ad.reduce_max' op expected an operand of rank 1 or more, but its rank is 0}}
  %y = ad.reduce_max %x axes [0] : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c2_accumulator(%x: tensor<4x3xf16>) {
  // expected-error @+1 {{'ad.reduce_sum' op expected a result with elements of type 'f16' or 'f32', but got 'f64'}}
  %y = ad.reduce_sum %x axes [1] : tensor<4x3xf16> -> tensor<4xf64>
  return
}

// -----

func.func @reduce_c2_selection(%x: tensor<4x3xf16>) {
  // expected-error @+1 {{'ad.reduce_min' op expected a result with elements of type 'f16', but got 'f32'}}
  %y = ad.reduce_min %x axes [1] : tensor<4x3xf16> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c3_shape(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.reduce_sum' op expected a result of shape 4, but got 3}}
  %y = ad.reduce_sum %x axes [1] : tensor<4x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @reduce_c3_keep_dims(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.reduce_sum' op expected a result of shape 4x1, but got 4}}
  %y = ad.reduce_sum %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @argmax_c1_axis(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.argmax' op expected an axis from 0 to 1, but got -1}}
  %y = ad.argmax %x axis -1 : tensor<4x3xf32>
  return
}

// -----

func.func @argmin_c2_empty(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{'ad.argmin' op expected elements along axis 1, but its size is 0}}
  %y = ad.argmin %x axis 1 : tensor<4x0xf32>
  return
}

// -----

func.func @argmax_c3_result(%x: tensor<4x3xf32>) {
  // expected-error @+2 {{'ad.argmax' op failed to infer returned types}}
  // expected-error @+1 {{'ad.argmax' op inferred type(s) 'tensor<4xi64>' are incompatible with return type(s) of operation 'tensor<4xi32>'}}
  %y = "ad.argmax"(%x) {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @cumsum_c1_axis(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.cumsum' op expected an axis from 0 to 1, but got 2}}
  %y = ad.cumsum %x axis 2 : tensor<4x3xf32>
  return
}

// -----

func.func @cumprod_c1_axis(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.cumprod' op expected an axis from 0 to 1, but got 2}}
  %y = ad.cumprod %x axis 2 : tensor<4x3xf32>
  return
}

// -----

func.func @cummax_c1_axis(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.cummax' op expected an axis from 0 to 1, but got 2}}
  %y = ad.cummax %x axis 2 : tensor<4x3xf32>
  return
}

// -----

func.func @cummin_c1_axis(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.cummin' op expected an axis from 0 to 1, but got 2}}
  %y = ad.cummin %x axis 2 : tensor<4x3xf32>
  return
}

// -----

func.func @argmax_c2_empty(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{'ad.argmax' op expected elements along axis 1, but its size is 0}}
  %y = ad.argmax %x axis 1 : tensor<2x0xf32>
  return
}

// -----

func.func @argmin_c1_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'ad.argmin' op expected an axis from 0 to 1, but got 2}}
  %y = ad.argmin %x axis 2 : tensor<2x3xf32>
  return
}

// -----

func.func @argmin_c3_result(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{'ad.argmin' op inferred type(s) 'tensor<2xi64>' are incompatible with return type(s) of operation 'tensor<3xi64>'}}
  // expected-error @+1 {{'ad.argmin' op failed to infer returned types}}
  %y = "ad.argmin"(%x) <{axis = 1 : i64}> : (tensor<2x3xf32>) -> tensor<3xi64>
  return
}
