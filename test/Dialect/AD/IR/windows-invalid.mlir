// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @conv_c1_operands(%x: tensor<5x3xf32>, %w: tensor<2x3xbf16>) {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'bf16'}}
  %y = ad.conv %x, %w dims "0c,0c->0" : (tensor<5x3xf32>, tensor<2x3xbf16>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c1_result(%x: tensor<5x3xbf16>, %w: tensor<2x3xbf16>) {
  // expected-error @+1 {{expected a result with elements of type 'bf16' or 'f32', but got 'f64'; convert the result with ad.cast}}
  %y = ad.conv %x, %w dims "0c,0c->0" : (tensor<5x3xbf16>, tensor<2x3xbf16>) -> tensor<4xf64>
  return
}

// -----

func.func @conv_c2_form(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected dims of the form INPUT,FILTER->RESULT, such as "b01c,01co->b01o", but got '0c,0c'}}
  %y = ad.conv %x, %w dims "0c,0c" : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c2_characters(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected dims of lower-case letters and digits, but got '0C'}}
  %y = ad.conv %x, %w dims "0C,0C->0" : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c2_twice(%x: tensor<5x5xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected each letter of 'cc' once}}
  %y = ad.conv %x, %w dims "cc,0c->0" : (tensor<5x5xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c2_digits(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected the same digits in all parts of dims, from 0 on, but got '1c'}}
  %y = ad.conv %x, %w dims "1c,1c->1" : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c2_digits_of_the_result(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected the same digits in all parts of dims, from 0 on, but got 'c'}}
  %y = ad.conv %x, %w dims "0c,0c->c" : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @conv_c2_alone(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected letter 'd' in two parts of dims at least}}
  %y = ad.conv %x, %w dims "0d,0c->0c" : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @conv_c3_input(%x: tensor<5x3x2xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a letter of '0c' for each of the 3 axes of the input}}
  %y = ad.conv %x, %w dims "0c,0c->0" : (tensor<5x3x2xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c3_filter(%x: tensor<5x3xf32>, %w: tensor<2xf32>) {
  // expected-error @+1 {{expected a letter of '0c' for each of the 1 axes of the filter}}
  %y = ad.conv %x, %w dims "0c,0c->0" : (tensor<5x3xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c4_count(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 1 numbers of strides, one for each spatial axis, or none, but got 2}}
  %y = ad.conv %x, %w dims "0c,0c->0" strides [1, 1] : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c4_stride(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected numbers of strides from 1 to 2147483647, but got 0}}
  %y = ad.conv %x, %w dims "0c,0c->0" strides [0] : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c4_dilation(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected numbers of filter_dilation from 1 to 2147483647, but got -2}}
  %y = ad.conv %x, %w dims "0c,0c->0" filter_dilation [-2] : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c4_padding(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected numbers of low from -2147483647 to 2147483647, but got 2147483648}}
  %y = ad.conv %x, %w dims "0c,0c->0" low [2147483648] : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c5(%x: tensor<5x3xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{expected axes 'c' of one size, but got 3 and 4}}
  %y = ad.conv %x, %w dims "0c,0c->0" : (tensor<5x3xf32>, tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c6_places(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a result of shape 4, but got 5}}
  %y = ad.conv %x, %w dims "0c,0c->0" : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @conv_c6_letters(%x: tensor<5x3xf32>, %w: tensor<2x?xf32>) {
  // expected-error @+1 {{expected a result of shape 3x4, but got ?x4}}
  %y = ad.conv %x, %w dims "0c,0c->c0" : (tensor<5x3xf32>, tensor<2x?xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @reduce_window_c1_kind(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{expected max, min, sum or mean, but got 'prod'}}
  %y = ad.reduce_window prod %x window [2, 1] : tensor<5x3xf32>
  return
}

// -----

func.func @reduce_window_c1_mean(%x: tensor<5x3xi32>) {
  // expected-error @+1 {{expected floats for a mean, but got 'i32'}}
  %y = ad.reduce_window mean %x window [2, 1] : tensor<5x3xi32>
  return
}

// -----

func.func @reduce_window_c2_window(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{expected a window of 2 sizes, one for each axis, but got 1}}
  %y = ad.reduce_window max %x window [2] : tensor<5x3xf32>
  return
}

// -----

func.func @reduce_window_c2_list(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{expected 2 numbers of low, one for each axis, or none, but got 1}}
  %y = ad.reduce_window max %x window [2, 1] low [1] : tensor<5x3xf32>
  return
}

// -----

func.func @reduce_window_c3_window(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{expected numbers of window from 1 to 2147483647, but got 0}}
  %y = ad.reduce_window max %x window [2, 0] : tensor<5x3xf32>
  return
}

// -----

func.func @reduce_window_c3_padding(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{expected numbers of high from 0 to 2147483647, but got -1}}
  %y = ad.reduce_window max %x window [2, 1] high [-1, 0] : tensor<5x3xf32>
  return
}

// -----

func.func @reduce_window_c4_kind(%x: tensor<5x3xf32>, %p: tensor<4x3xi64>) {
  // expected-error @+1 {{expected a sum at positions, but got 'max'}}
  %y = ad.reduce_window max %x at %p window [2, 1] : tensor<5x3xf32>, tensor<4x3xi64>
  return
}

// -----

func.func @reduce_window_c4_shape(%x: tensor<5x3xf32>, %p: tensor<5x3xi64>) {
  // expected-error @+1 {{expected positions of shape 4x3, but got 'tensor<5x3xi64>'}}
  %y = ad.reduce_window sum %x at %p window [2, 1] : tensor<5x3xf32>, tensor<5x3xi64>
  return
}

// -----

func.func @arg_reduce_window_c1(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{expected max or min, but got 'sum'}}
  %y = ad.arg_reduce_window sum %x window [2, 1] : tensor<5x3xf32>
  return
}

// -----

func.func @arg_reduce_window_c2(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{expected 2 numbers of strides, one for each axis, or none, but got 3}}
  %y = ad.arg_reduce_window max %x window [2, 1] strides [1, 1, 1] : tensor<5x3xf32>
  return
}

// -----

func.func @arg_reduce_window_c3(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{expected numbers of dilation from 1 to 2147483647, but got 0}}
  %y = ad.arg_reduce_window max %x window [2, 1] dilation [0, 1] : tensor<5x3xf32>
  return
}

// -----

func.func @spread_window_c1_type(%g: tensor<4x3xf32>) {
  // expected-error @+1 {{expected a result of the operand's element type and rank, but got 'tensor<5x3xf64>'}}
  %y = ad.spread_window %g window [2, 1] : (tensor<4x3xf32>) -> tensor<5x3xf64>
  return
}

// -----

func.func @spread_window_c1_rank(%g: tensor<4x3xf32>) {
  // expected-error @+1 {{expected a result of the operand's element type and rank, but got 'tensor<5xf32>'}}
  %y = ad.spread_window %g window [2, 1] : (tensor<4x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @spread_window_c1_sizes(%g: tensor<4x3xf32>) {
  // expected-error @+1 {{expected one size per dynamic dimension of 'tensor<?x3xf32>', that is 1, but got 0}}
  %y = ad.spread_window %g window [2, 1] : (tensor<4x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @spread_window_c2(%g: tensor<4x3xf32>) {
  // expected-error @+1 {{expected a window of 2 sizes, one for each axis, but got 3}}
  %y = ad.spread_window %g window [2, 1, 1] : (tensor<4x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @spread_window_c3(%g: tensor<4x3xf32>) {
  // expected-error @+1 {{expected numbers of strides from 1 to 2147483647, but got 0}}
  %y = ad.spread_window %g window [2, 1] strides [0, 1] : (tensor<4x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @spread_window_c4(%g: tensor<4x3xf32>, %p: tensor<4x2xi64>) {
  // expected-error @+1 {{expected positions of shape 4x3, but got 'tensor<4x2xi64>'}}
  %y = ad.spread_window %g at %p window [2, 1] : (tensor<4x3xf32>, tensor<4x2xi64>) -> tensor<5x3xf32>
  return
}

// -----

func.func @spread_window_c5(%g: tensor<4x3xf32>) {
  // expected-error @+1 {{expected 5 elements along axis 0, as many as places of the window, but got 4}}
  %y = ad.spread_window %g window [2, 1] : (tensor<4x3xf32>) -> tensor<6x3xf32>
  return
}
