// RUN: ad-opt %s --canonicalize --split-input-file | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @identities
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf32>, %[[V:.+]]: tensor<f32>
func.func @identities(%x: tensor<4x3xf32>, %v: tensor<f32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = ad.reshape %x : tensor<4x3xf32> -> tensor<4x3xf32>
  %1 = ad.broadcast %0 : tensor<4x3xf32> -> tensor<4x3xf32>
  %2 = ad.sum_to_shape %1 : tensor<4x3xf32> -> tensor<4x3xf32>
  %3 = ad.transpose %2 [0, 1] : tensor<4x3xf32>
  %4 = ad.slice %3 [0, 0] strides [1, 1] : tensor<4x3xf32> -> tensor<4x3xf32>
  %5 = ad.pad %4, %v low [0, 0] high [0, 0] interior [0, 0] : tensor<4x3xf32>, tensor<f32>
  %6 = ad.concat axis 1 %5 : tensor<4x3xf32>
  %7 = ad.reverse %6 axes [] : tensor<4x3xf32>
  return %7 : tensor<4x3xf32>
}

// -----

// The size operand is that of the input.
// CHECK-LABEL: func.func @identity_of_dynamic_shape
// CHECK-SAME: %[[X:.+]]: tensor<?x3xf32>
func.func @identity_of_dynamic_shape(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %0 = ad.broadcast %x(%n) : tensor<?x3xf32> -> tensor<?x3xf32>
  %1 = ad.sum_to_shape %0(%n) : tensor<?x3xf32> -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// -----

// Other sizes may repeat, or fail, at run time.
// CHECK-LABEL: func.func @unknown_sizes_stay
func.func @unknown_sizes_stay(%x: tensor<?x3xf32>, %n: index, %m: index) -> tensor<?x3xf32> {
  // CHECK: ad.slice
  %0 = ad.slice %x [0, 0] strides [1, 1] (%n) : tensor<?x3xf32> -> tensor<?x3xf32>
  // CHECK: ad.broadcast
  %1 = ad.broadcast %0(%m) : tensor<?x3xf32> -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// -----

// The rounding to the result would make an infinity finite.
// CHECK-LABEL: func.func @sum_to_shape_of_infinities_stays
func.func @sum_to_shape_of_infinities_stays(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  // CHECK: ad.sum_to_shape
  %0 = ad.sum_to_shape %x : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// -----

// CHECK-LABEL: func.func @pairs
// CHECK-SAME: %[[X:.+]]: tensor<2x3x4xf32>
func.func @pairs(%x: tensor<2x3x4xf32>)
    -> (tensor<24xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  // CHECK-DAG: %[[FLAT:.+]] = ad.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<24xf32>
  %0 = ad.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = ad.reshape %0 : tensor<6x4xf32> -> tensor<24xf32>
  // CHECK-DAG: %[[TRANSPOSED:.+]] = ad.transpose %[[X]] [2, 0, 1]
  %2 = ad.transpose %x [1, 2, 0] : tensor<2x3x4xf32>
  %3 = ad.transpose %2 [2, 0, 1] : tensor<3x4x2xf32>
  %4 = ad.transpose %2 [1, 2, 0] : tensor<3x4x2xf32>
  // CHECK-DAG: %[[REVERSED:.+]] = ad.reverse %[[X]] axes [0, 2]
  %5 = ad.reverse %x axes [0, 1] : tensor<2x3x4xf32>
  %6 = ad.reverse %5 axes [0, 1] : tensor<2x3x4xf32>
  %7 = ad.reverse %5 axes [1, 2] : tensor<2x3x4xf32>
  // CHECK: return %[[FLAT]], %[[X]], %[[TRANSPOSED]], %[[X]], %[[REVERSED]]
  return %1, %3, %4, %6, %7
      : tensor<24xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast_of_broadcast
// CHECK-SAME: %[[X:.+]]: tensor<1x3xf32>
func.func @broadcast_of_broadcast(%x: tensor<1x3xf32>) -> tensor<5x4x3xf32> {
  // CHECK-NEXT: ad.broadcast %[[X]] : tensor<1x3xf32> -> tensor<5x4x3xf32>
  %0 = ad.broadcast %x : tensor<1x3xf32> -> tensor<4x3xf32>
  %1 = ad.broadcast %0 : tensor<4x3xf32> -> tensor<5x4x3xf32>
  return %1 : tensor<5x4x3xf32>
}

// -----

// The inner reshape checks the number of elements at run time.
// CHECK-LABEL: func.func @dynamic_reshape_stays
func.func @dynamic_reshape_stays(%x: tensor<?xf32>) -> tensor<6xf32> {
  // CHECK-COUNT-2: ad.reshape
  %0 = ad.reshape %x : tensor<?xf32> -> tensor<2x3xf32>
  %1 = ad.reshape %0 : tensor<2x3xf32> -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @barrier_hides_definitions
func.func @barrier_hides_definitions(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xi32>) {
  // CHECK-COUNT-2: ad.transpose
  // CHECK: ad.reverse
  %0 = ad.transpose %x [1, 0] : tensor<2x3xf32>
  %1 = ad.barrier %0 : tensor<3x2xf32>
  %2 = ad.transpose %1 [1, 0] : tensor<3x2xf32>
  %3 = ad.constant dense<[1, 2, 3]> : tensor<3xi32>
  %4 = ad.barrier %3 : tensor<3xi32>
  %5 = ad.reverse %4 axes [0] : tensor<3xi32>
  return %2, %5 : tensor<2x3xf32>, tensor<3xi32>
}
