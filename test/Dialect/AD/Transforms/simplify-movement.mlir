// RUN: ad-opt %s --ad-simplify | FileCheck %s

// CHECK-LABEL: @transposed_rhs
// CHECK-SAME: %[[A:.+]]: tensor<2x4xf32>, %[[B:.+]]: tensor<8x4xf32>
func.func @transposed_rhs(%a: tensor<2x4xf32>, %b: tensor<8x4xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: ad.dot %[[A]], %[[B]] contract [1] x [1] {order = #ad.order<block = 7>}
  %t = ad.transpose %b [1, 0] : tensor<8x4xf32>
  %c = ad.dot %a, %t {order = #ad.order<block = 7>} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  return %c : tensor<2x8xf32>
}

// CHECK-LABEL: @transposed_lhs
// CHECK-SAME: %[[A:.+]]: tensor<4x2xf32>, %[[B:.+]]: tensor<4x8xf32>
func.func @transposed_lhs(%a: tensor<4x2xf32>, %b: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: ad.dot %[[A]], %[[B]] contract [0] x [0]
  %t = ad.transpose %a [1, 0] : tensor<4x2xf32>
  %c = ad.dot %t, %b : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  return %c : tensor<2x8xf32>
}

// CHECK-LABEL: @batch_axis_inside
// CHECK-SAME: %[[A:.+]]: tensor<8x4x16xf32>, %[[B:.+]]: tensor<8x4x16xf32>
func.func @batch_axis_inside(%a: tensor<8x4x16xf32>, %b: tensor<8x4x16xf32>) -> tensor<4x8x8xf32> {
  // CHECK-NEXT: ad.dot %[[A]], %[[B]] batch [1] x [1] contract [2] x [2]
  %s = ad.transpose %a [1, 0, 2] : tensor<8x4x16xf32>
  %t = ad.transpose %b [1, 2, 0] : tensor<8x4x16xf32>
  %c = ad.dot %s, %t : (tensor<4x8x16xf32>, tensor<4x16x8xf32>) -> tensor<4x8x8xf32>
  return %c : tensor<4x8x8xf32>
}

// The free axes are exchanged, and so would those of the result be.
// CHECK-LABEL: @exchanged_free_axes
func.func @exchanged_free_axes(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<3x2xf32> {
  // CHECK: ad.transpose
  // CHECK: ad.dot
  %t = ad.transpose %a [1, 0, 2] : tensor<2x3x4xf32>
  %c = ad.dot %t, %b contract [2] x [0] : (tensor<3x2x4xf32>, tensor<4xf32>) -> tensor<3x2xf32>
  return %c : tensor<3x2xf32>
}

// CHECK-LABEL: @transposed_result
// CHECK-SAME: %[[A:.+]]: tensor<2x4xf32>, %[[B:.+]]: tensor<4x8xf32>
func.func @transposed_result(%a: tensor<2x4xf32>, %b: tensor<4x8xf32>) -> tensor<8x2xf32> {
  // CHECK-NEXT: ad.dot %[[B]], %[[A]] contract [0] x [1]
  %c = ad.dot %a, %b : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %t = ad.transpose %c [1, 0] : tensor<2x8xf32>
  return %t : tensor<8x2xf32>
}

// CHECK-LABEL: @transposed_result_with_other_users
func.func @transposed_result_with_other_users(%a: tensor<2x4xf32>, %b: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<8x2xf32>) {
  // CHECK: ad.dot
  // CHECK: ad.transpose
  %c = ad.dot %a, %b : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %t = ad.transpose %c [1, 0] : tensor<2x8xf32>
  return %c, %t : tensor<2x8xf32>, tensor<8x2xf32>
}

// CHECK-LABEL: @gemm
// CHECK-SAME: %[[X:.+]]: tensor<8x4xf32>, %[[W:.+]]: tensor<2x8xf32>
func.func @gemm(%x: tensor<8x4xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: ad.gemm %[[X]], %[[W]] {transA, transB}
  %s = ad.transpose %x [1, 0] : tensor<8x4xf32>
  %t = ad.transpose %w [1, 0] : tensor<2x8xf32>
  %y = ad.gemm %s, %t : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// CHECK-LABEL: @identities_of_traced_sizes
// CHECK-SAME: %[[X:.+]]: tensor<?x3xf32>
func.func @identities_of_traced_sizes(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]]
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %a = ad.reshape %x(%n) : tensor<?x3xf32> -> tensor<?x3xf32>
  %b = ad.broadcast %x(%n) : tensor<?x3xf32> -> tensor<?x3xf32>
  %c = ad.sum_to_shape %x(%n) : tensor<?x3xf32> -> tensor<?x3xf32>
  return %a, %b, %c : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: @checks_at_run_time_stay
func.func @checks_at_run_time_stay(%x: tensor<?x3xf32>, %n: index) -> tensor<?x3xf32> {
  // CHECK: ad.broadcast
  %b = ad.broadcast %x(%n) : tensor<?x3xf32> -> tensor<?x3xf32>
  return %b : tensor<?x3xf32>
}

// CHECK-LABEL: @reshape_of_reshape
func.func @reshape_of_reshape(%x: tensor<6xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: ad.reshape %{{.+}} : tensor<6xf32> -> tensor<3x2xf32>
  // CHECK-NEXT: return
  %a = ad.reshape %x : tensor<6xf32> -> tensor<2x3xf32>
  %b = ad.reshape %a : tensor<2x3xf32> -> tensor<3x2xf32>
  return %b : tensor<3x2xf32>
}

// Sizes lead back to where they come from.
// CHECK-LABEL: @sizes
// CHECK-SAME: %[[X:.+]]: tensor<?x3xf32>
func.func @sizes(%x: tensor<?x3xf32>) -> index {
  // CHECK: %[[N:.+]] = tensor.dim %[[X]]
  // CHECK: return %[[N]]
  %c1 = arith.constant 1 : index
  %e = ad.exp %x : tensor<?x3xf32>
  %t = ad.transpose %e [1, 0] : tensor<?x3xf32>
  %n = tensor.dim %t, %c1 : tensor<3x?xf32>
  return %n : index
}

// CHECK-LABEL: @reduction_and_reshape
func.func @reduction_and_reshape(%x: tensor<?x3x1xf32>) -> (tensor<?x1xf32>, tensor<?x1x1xf32>, tensor<?xf32>) {
  // CHECK: ad.reduce_sum %{{.+}} axes [1] : tensor<?x3x1xf32> -> tensor<?x1xf32>
  // CHECK: ad.reduce_sum %{{.+}} axes [1] keep_dims : tensor<?x3x1xf32> -> tensor<?x1x1xf32>
  // CHECK: ad.reshape
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3x1xf32>
  %a = ad.reduce_sum %x axes [1] keep_dims : tensor<?x3x1xf32> -> tensor<?x1x1xf32>
  %b = ad.reshape %a(%n) : tensor<?x1x1xf32> -> tensor<?x1xf32>
  %c = ad.reduce_sum %x axes [1] : tensor<?x3x1xf32> -> tensor<?x1xf32>
  %d = ad.reshape %c(%n) : tensor<?x1xf32> -> tensor<?x1x1xf32>
  %e = ad.reduce_max %x axes [1] keep_dims : tensor<?x3x1xf32> -> tensor<?x1x1xf32>
  %f = ad.reshape %e(%n) : tensor<?x1x1xf32> -> tensor<?xf32>
  return %b, %d, %f : tensor<?x1xf32>, tensor<?x1x1xf32>, tensor<?xf32>
}

// CHECK-LABEL: @slice_of_slice
func.func @slice_of_slice(%x: tensor<20xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: ad.slice %{{.+}} [5] strides [6] : tensor<20xf32> -> tensor<3xf32>
  // CHECK-NEXT: return
  %a = ad.slice %x [3] strides [2] : tensor<20xf32> -> tensor<8xf32>
  %b = ad.slice %a [1] strides [3] : tensor<8xf32> -> tensor<3xf32>
  return %b : tensor<3xf32>
}

// CHECK-LABEL: @sum_of_nothing_saturates_infinities
func.func @sum_of_nothing_saturates_infinities(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  // CHECK: ad.sum_to_shape
  %a = ad.sum_to_shape %x : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  return %a : tensor<4xf8E5M2>
}
