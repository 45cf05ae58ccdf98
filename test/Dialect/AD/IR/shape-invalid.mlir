// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @reshape_c1_element_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.reshape' op expected a result with elements of type 'f32', but got 'f64'}}
  %y = ad.reshape %x : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @reshape_c2_sizes(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.reshape' op expected one size per dynamic dimension of 'tensor<?x2xf32>', that is 1, but got 0}}
  %y = ad.reshape %x : tensor<4xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @reshape_c3_count(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.reshape' op cannot reshape 12 elements of shape 4x3 to 10 of shape 5x2}}
  %y = ad.reshape %x : tensor<4x3xf32> -> tensor<5x2xf32>
  return
}

// -----

func.func @reshape_c3_rank_0(%x: tensor<2xf32>) {
  // expected-error @+1 {{cannot reshape 2 elements of shape 2 to 1 of shape ()}}
  %y = ad.reshape %x : tensor<2xf32> -> tensor<f32>
  return
}

// -----

func.func @broadcast_c1_element_type(%x: tensor<1xf32>) {
  // expected-error @+1 {{'ad.broadcast' op expected a result with elements of type 'f32', but got 'f16'}}
  %y = ad.broadcast %x : tensor<1xf32> -> tensor<4xf16>
  return
}

// -----

func.func @broadcast_c2_sizes(%x: tensor<1xf32>, %n: index) {
  // expected-error @+1 {{'ad.broadcast' op expected one size per dynamic dimension of 'tensor<4xf32>', that is 0, but got 1}}
  %y = ad.broadcast %x(%n) : tensor<1xf32> -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_c3_rank(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'ad.broadcast' op cannot broadcast rank 2 to rank 1}}
  %y = ad.broadcast %x : tensor<1x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_c4_sizes(%x: tensor<3x?xf32>) {
  // expected-error @+1 {{cannot broadcast 3x? to 2x4x5: sizes 3 and 4 of dimension 1 differ}}
  %y = ad.broadcast %x : tensor<3x?xf32> -> tensor<2x4x5xf32>
  return
}

// -----

func.func @sum_to_shape_c1_element_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.sum_to_shape' op expected a result with elements of type 'f32', but got 'f64'}}
  %y = ad.sum_to_shape %x : tensor<4xf32> -> tensor<1xf64>
  return
}

// -----

func.func @sum_to_shape_c2_sizes(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.sum_to_shape' op expected one size per dynamic dimension of 'tensor<?xf32>', that is 1, but got 0}}
  %y = ad.sum_to_shape %x : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @sum_to_shape_c3_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.sum_to_shape' op cannot broadcast rank 2 to rank 1}}
  %y = ad.sum_to_shape %x : tensor<4xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @sum_to_shape_c4_sizes(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{cannot broadcast 3 to 2x4: sizes 3 and 4 of dimension 1 differ}}
  %y = ad.sum_to_shape %x : tensor<2x4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @transpose_c1_length(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'ad.transpose' op expected a permutation of the axes of rank 2, but got [0]}}
  %y = ad.transpose %x [0] : tensor<2x3xf32>
  return
}

// -----

func.func @transpose_c1_repeated(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a permutation of the axes of rank 2, but got [1, 1]}}
  %y = ad.transpose %x [1, 1] : tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1_element_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.slice' op expected a result with elements of type 'f32', but got 'f64'}}
  %y = ad.slice %x [0] strides [1] : tensor<4xf32> -> tensor<2xf64>
  return
}

// -----

func.func @slice_c2_sizes(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.slice' op expected one size per dynamic dimension of 'tensor<?xf32>', that is 1, but got 0}}
  %y = ad.slice %x [0] strides [1] : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @slice_c3_offsets(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a result of rank 2 and as many offsets and strides, but got 2, 1 and 2}}
  %y = ad.slice %x [0] strides [1, 1] : tensor<4x4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c3_rank(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a result of rank 2 and as many offsets and strides, but got 1, 2 and 2}}
  %y = ad.slice %x [0, 0] strides [1, 1] : tensor<4x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_c4_stride(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a non-negative offset and a positive stride along axis 0, but got 1 and 0}}
  %y = ad.slice %x [1] strides [0] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_c4_offset(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a non-negative offset and a positive stride along axis 0, but got -1 and 1}}
  %y = ad.slice %x [-1] strides [1] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_c5_outside(%x: tensor<4x10xf32>) {
  // expected-error @+1 {{cannot read 3 elements from offset 6 with stride 2 along axis 1 of size 10}}
  %y = ad.slice %x [0, 6] strides [1, 2] : tensor<4x10xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @slice_c5_overflow(%x: tensor<10xf32>) {
  // expected-error @+1 {{cannot read 3 elements from offset 1 with stride 9223372036854775807}}
  %y = ad.slice %x [1] strides [9223372036854775807] : tensor<10xf32> -> tensor<3xf32>
  return
}
