// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @reshape
// CHECK-SAME: %[[X:.+]]: tensor<?x6xf32>, %[[N:.+]]: index
func.func @reshape(%x: tensor<?x6xf32>, %n: index) -> tensor<?x2x3xf32> {
  // CHECK: ad.reshape %[[X]](%[[N]]) : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2x3xf32>
  return %y : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @reshape_to_rank_0
func.func @reshape_to_rank_0(%x: tensor<1x1xi1>) -> tensor<i1> {
  // CHECK: ad.reshape %{{.+}} {allow = #ad.allow<reorder|mma>} : tensor<1x1xi1> -> tensor<i1>
  %y = ad.reshape %x {allow = #ad.allow<reorder|mma>} : tensor<1x1xi1> -> tensor<i1>
  return %y : tensor<i1>
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<1x3xbf16>, %n: index) -> tensor<4x?x3xbf16> {
  // CHECK: ad.broadcast %{{.+}}(%{{.+}}) : tensor<1x3xbf16> -> tensor<4x?x3xbf16>
  %y = ad.broadcast %x(%n) : tensor<1x3xbf16> -> tensor<4x?x3xbf16>
  return %y : tensor<4x?x3xbf16>
}

// CHECK-LABEL: func.func @broadcast_decided_at_run_time
func.func @broadcast_decided_at_run_time(%x: tensor<?x3xf32>, %n: index) -> (tensor<5x3xf32>, tensor<?x3xf32>) {
  // CHECK: ad.broadcast %{{.+}} : tensor<?x3xf32> -> tensor<5x3xf32>
  %y = ad.broadcast %x : tensor<?x3xf32> -> tensor<5x3xf32>
  // CHECK: ad.broadcast %{{.+}}(%{{.+}}) : tensor<?x3xf32> -> tensor<?x3xf32>
  %z = ad.broadcast %x(%n) : tensor<?x3xf32> -> tensor<?x3xf32>
  return %y, %z : tensor<5x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sum_to_shape
func.func @sum_to_shape(%x: tensor<4x?xf32>, %n: index) -> (tensor<?xf32>, tensor<4x1xf32>) {
  // CHECK: ad.sum_to_shape %{{.+}}(%{{.+}}) {order = #ad.order<block = 512>} : tensor<4x?xf32> -> tensor<?xf32>
  %y = ad.sum_to_shape %x(%n) {order = #ad.order<block = 512>} : tensor<4x?xf32> -> tensor<?xf32>
  // CHECK: ad.sum_to_shape %{{.+}} : tensor<4x?xf32> -> tensor<4x1xf32>
  %z = ad.sum_to_shape %x : tensor<4x?xf32> -> tensor<4x1xf32>
  return %y, %z : tensor<?xf32>, tensor<4x1xf32>
}

// CHECK-LABEL: func.func @transpose
func.func @transpose(%x: tensor<2x?x4xf8E5M2>, %s: tensor<f32>) -> (tensor<?x4x2xf8E5M2>, tensor<f32>) {
  // CHECK: ad.transpose %{{.+}} [1, 2, 0] : tensor<2x?x4xf8E5M2>
  %y = ad.transpose %x [1, 2, 0] : tensor<2x?x4xf8E5M2>
  // CHECK: ad.transpose %{{.+}} [] : tensor<f32>
  %t = ad.transpose %s [] : tensor<f32>
  return %y, %t : tensor<?x4x2xf8E5M2>, tensor<f32>
}

// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<4x10xi64>, %n: index) -> (tensor<4x3xi64>, tensor<?x0xi64>) {
  // CHECK: ad.slice %{{.+}} [0, 2] strides [1, 2] : tensor<4x10xi64> -> tensor<4x3xi64>
  %y = ad.slice %x [0, 2] strides [1, 2] : tensor<4x10xi64> -> tensor<4x3xi64>
  // CHECK: ad.slice %{{.+}} [0, 10] strides [1, 1](%{{.+}}) : tensor<4x10xi64> -> tensor<?x0xi64>
  %z = ad.slice %x [0, 10] strides [1, 1] (%n) : tensor<4x10xi64> -> tensor<?x0xi64>
  return %y, %z : tensor<4x3xi64>, tensor<?x0xi64>
}

// CHECK-LABEL: func.func @dynamic_slice
// CHECK-SAME: %[[X:.+]]: tensor<4x10xf32>, %[[I:.+]]: index, %[[J:.+]]: index
func.func @dynamic_slice(%x: tensor<4x10xf32>, %i: index, %j: index) -> tensor<1x?xf32> {
  // CHECK: ad.dynamic_slice %[[X]][%[[I]], %[[J]]] (%[[I]]) : tensor<4x10xf32> -> tensor<1x?xf32>
  %y = ad.dynamic_slice %x[%i, %j](%i) : tensor<4x10xf32> -> tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}

// CHECK-LABEL: func.func @dynamic_update_slice
// CHECK-SAME: %[[X:.+]]: tensor<4x10xf32>, %[[U:.+]]: tensor<1x10xf32>, %[[I:.+]]: index
func.func @dynamic_update_slice(%x: tensor<4x10xf32>, %u: tensor<1x10xf32>, %i: index) -> tensor<4x10xf32> {
  // CHECK: ad.dynamic_update_slice %[[X]], %[[U]][%[[I]], %[[I]]] : tensor<4x10xf32>, tensor<1x10xf32>
  %y = ad.dynamic_update_slice %x, %u[%i, %i] : tensor<4x10xf32>, tensor<1x10xf32>
  return %y : tensor<4x10xf32>
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<4x3x?xf32>, %v: tensor<f32>) -> tensor<5x7x?xf32> {
  // CHECK: ad.pad %{{.+}}, %{{.+}} low [1, 0, 0] high [0, 2, 0] interior [0, 1, 3] : tensor<4x3x?xf32>, tensor<f32>
  %y = ad.pad %x, %v low [1, 0, 0] high [0, 2, 0] interior [0, 1, 3] : tensor<4x3x?xf32>, tensor<f32>
  return %y : tensor<5x7x?xf32>
}

// CHECK-LABEL: func.func @concat
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<?x5xf32>, %c: tensor<2x?xf32>)
    -> (tensor<2x8xf32>, tensor<2x?xf32>) {
  // CHECK: ad.concat axis 1 %{{.+}}, %{{.+}} : tensor<2x3xf32>, tensor<?x5xf32>
  %y = ad.concat axis 1 %a, %b : tensor<2x3xf32>, tensor<?x5xf32>
  // CHECK: ad.concat axis 1 %{{.+}}, %{{.+}}, %{{.+}} : tensor<?x5xf32>, tensor<2x?xf32>, tensor<2x3xf32>
  %z = ad.concat axis 1 %b, %c, %a : tensor<?x5xf32>, tensor<2x?xf32>, tensor<2x3xf32>
  return %y, %z : tensor<2x8xf32>, tensor<2x?xf32>
}

// CHECK-LABEL: func.func @reverse
func.func @reverse(%x: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // CHECK: ad.reverse %{{.+}} axes [0, 1] : tensor<4x3xf16>
  %y = ad.reverse %x axes [0, 1] : tensor<4x3xf16>
  return %y : tensor<4x3xf16>
}
