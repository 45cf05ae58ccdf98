// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @dynamic_slice_c1_element_type(%x: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_slice' op expected a result with elements of type 'f32', but got 'f64'}}
  %y = ad.dynamic_slice %x[%i] : tensor<4xf32> -> tensor<2xf64>
  return
}

// -----

func.func @dynamic_slice_c2_rank(%x: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_slice' op expected a part of rank 1, but got rank 2}}
  %y = ad.dynamic_slice %x[%i] : tensor<4xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @dynamic_slice_c3_offsets(%x: tensor<4x4xf32>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_slice' op expected one offset for each of 2 axes, but got 1}}
  %y = ad.dynamic_slice %x[%i] : tensor<4x4xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @dynamic_slice_c4_size(%x: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_slice' op expected a part of at most 4 elements along axis 0, but got 5}}
  %y = ad.dynamic_slice %x[%i] : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @dynamic_slice_c5_sizes(%x: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_slice' op expected one size per dynamic dimension of 'tensor<?xf32>', that is 1, but got 0}}
  %y = ad.dynamic_slice %x[%i] : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1_element_type(%x: tensor<4xf32>, %u: tensor<1xf64>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_update_slice' op expected an update with elements of type 'f32', but got 'f64'}}
  %y = ad.dynamic_update_slice %x, %u[%i] : tensor<4xf32>, tensor<1xf64>
  return
}

// -----

func.func @dynamic_update_slice_c2_rank(%x: tensor<4xf32>, %u: tensor<f32>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_update_slice' op expected a part of rank 1, but got rank 0}}
  %y = ad.dynamic_update_slice %x, %u[%i] : tensor<4xf32>, tensor<f32>
  return
}

// -----

func.func @dynamic_update_slice_c3_offsets(%x: tensor<4xf32>, %u: tensor<1xf32>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_update_slice' op expected one offset for each of 1 axes, but got 2}}
  %y = ad.dynamic_update_slice %x, %u[%i, %i] : tensor<4xf32>, tensor<1xf32>
  return
}

// -----

func.func @dynamic_update_slice_c4_size(%x: tensor<4xf32>, %u: tensor<9xf32>, %i: index) {
  // expected-error @+1 {{'ad.dynamic_update_slice' op expected a part of at most 4 elements along axis 0, but got 9}}
  %y = ad.dynamic_update_slice %x, %u[%i] : tensor<4xf32>, tensor<9xf32>
  return
}

// -----

func.func @pad_c1_value(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{expected a tensor and a rank-0 value with its element type, but got 'tensor<4xf32>' and 'tensor<1xf32>'}}
  %y = ad.pad %x, %v low [0] high [0] interior [0] : tensor<4xf32>, tensor<1xf32>
  return
}

// -----

func.func @pad_c1_element_type(%x: tensor<4xf32>, %v: tensor<f64>) {
  // expected-error @+1 {{'ad.pad' op expected a tensor and a rank-0 value with its element type}}
  %y = ad.pad %x, %v low [0] high [0] interior [0] : tensor<4xf32>, tensor<f64>
  return
}

// -----

func.func @pad_c2_lengths(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'ad.pad' op expected low, high and interior for each of 1 axes, but got 1, 2 and 0}}
  %y = ad.pad %x, %v low [0] high [0, 1] interior [] : tensor<4xf32>, tensor<f32>
  return
}

// -----

func.func @pad_c3_negative(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'ad.pad' op expected non-negative padding along axis 0, but got 0, -1 and 0}}
  %y = ad.pad %x, %v low [0] high [-1] interior [0] : tensor<4xf32>, tensor<f32>
  return
}

// -----

func.func @pad_c3_high(%x: tensor<?xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'ad.pad' op expected padding of at most 2147483647 elements along axis 0, but got 9223372036854775807}}
  %y = ad.pad %x, %v low [1] high [9223372036854775807] interior [0] : tensor<?xf32>, tensor<f32>
  return
}

// -----

func.func @pad_c3_interior(%x: tensor<1xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'ad.pad' op expected padding of at most 2147483647 elements along axis 0, but got 2147483648}}
  %y = ad.pad %x, %v low [0] high [0] interior [2147483648] : tensor<1xf32>, tensor<f32>
  return
}

// -----

func.func @pad_c4_overflow(%x: tensor<9223372036854775807xi8>, %v: tensor<i8>) {
  // expected-error @+1 {{'ad.pad' op expected a padded size below 2^63 along axis 0}}
  %y = ad.pad %x, %v low [1] high [0] interior [0] : tensor<9223372036854775807xi8>, tensor<i8>
  return
}

// -----

func.func @concat_c1_inputs() {
  // expected-error @+2 {{'ad.concat' op expected at least one input}}
  // expected-error @+1 {{'ad.concat' op failed to infer returned types}}
  %y = "ad.concat"() {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_i1_ranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{'ad.concat' op expected ranked tensors}}
  %y = ad.concat axis 0 %x, %x : tensor<*xf32>, tensor<*xf32>
  return
}

// -----

func.func @concat_c2_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.concat' op expected an axis from 0 to 0, but got 1}}
  %y = ad.concat axis 1 %x : tensor<4xf32>
  return
}

// -----

func.func @concat_c2_rank_0(%x: tensor<f32>) {
  // expected-error @+1 {{'ad.concat' op expected an operand of rank 1 or more, but its rank is 0}}
  %y = ad.concat axis 0 %x : tensor<f32>
  return
}

// -----

func.func @concat_c3_rank(%x: tensor<4xf32>, %z: tensor<4x1xf32>) {
  // expected-error @+1 {{expected inputs of one rank and element type, but got 'tensor<4xf32>' and 'tensor<4x1xf32>'}}
  %y = ad.concat axis 0 %x, %z : tensor<4xf32>, tensor<4x1xf32>
  return
}

// -----

func.func @concat_c4_sizes(%x: tensor<4x2xf32>, %z: tensor<3x2xf32>) {
  // expected-error @+1 {{expected inputs that agree outside axis 1, but dimension 0 has sizes 4 and 3}}
  %y = ad.concat axis 1 %x, %z : tensor<4x2xf32>, tensor<3x2xf32>
  return
}

// -----

func.func @concat_c5_overflow(%x: tensor<9223372036854775807xf32>) {
  // expected-error @+1 {{'ad.concat' op expected a size below 2^63 along axis 0}}
  %y = ad.concat axis 0 %x, %x : tensor<9223372036854775807xf32>, tensor<9223372036854775807xf32>
  return
}

// -----

func.func @reverse_c1_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.reverse' op expected an axis from 0 to 0, but got -1}}
  %y = ad.reverse %x axes [-1] : tensor<4xf32>
  return
}

// -----

func.func @reverse_c1_repeated(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'ad.reverse' op expected ascending axes without repetition, but got 1 before 1}}
  %y = ad.reverse %x axes [1, 1] : tensor<4x4xf32>
  return
}
