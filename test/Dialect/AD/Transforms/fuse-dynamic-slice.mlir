// RUN: ad-opt %s --ad-set-numerics --ad-fuse | FileCheck %s

// An elementwise kernel reads the part itself.
// CHECK-LABEL: func.func @elementwise(
// CHECK-NOT:   ad.fusion movement
// CHECK:       ad.fusion elementwise (%[[X:[^ ]+]] = %{{[^,]+}}, %[[I:[^ ]+]] = %{{[^,]+}}
// CHECK:         %[[ROW:.+]] = ad.dynamic_slice %[[X]][%[[I]], %{{[^]]+}}]
// CHECK:         ad.tanh %[[ROW]]
func.func @elementwise(%x: tensor<9x4xf32>, %i: index, %j: index) -> tensor<1x4xf32> {
  %r = ad.dynamic_slice %x[%i, %j] : tensor<9x4xf32> -> tensor<1x4xf32>
  %t = ad.tanh %r : tensor<1x4xf32>
  return %t : tensor<1x4xf32>
}

// A contraction, which reads its operands many times, gets a copy.
// CHECK-LABEL: func.func @contraction(
// CHECK:       %[[W:.+]] = ad.fusion movement
// CHECK:       ad.fusion dot ({{.*}} = %[[W]]
func.func @contraction(%x: tensor<8x4xf32>, %w: tensor<3x4x6xf32>, %i: index, %j: index) -> tensor<8x6xf32> {
  %l = ad.dynamic_slice %w[%i, %j, %j] : tensor<3x4x6xf32> -> tensor<1x4x6xf32>
  %m = ad.reshape %l : tensor<1x4x6xf32> -> tensor<4x6xf32>
  %y = ad.dot %x, %m contract [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// The replaced elements are read before the update: it could not run in place if a later kernel read them.
// CHECK-LABEL: func.func @replaced(
// CHECK:       %[[ROW:.+]] = ad.fusion movement
// CHECK:       ad.fusion movement
// CHECK:       ad.fusion elementwise ({{.*}} = %[[ROW]]
func.func @replaced(%x: tensor<9x4xf32>, %u: tensor<1x4xf32>, %i: index, %j: index)
    -> (tensor<9x4xf32>, tensor<1x4xf32>) {
  %r = ad.dynamic_slice %x[%i, %j] : tensor<9x4xf32> -> tensor<1x4xf32>
  %y = ad.dynamic_update_slice %x, %u[%i, %j] : tensor<9x4xf32>, tensor<1x4xf32>
  %t = ad.tanh %r : tensor<1x4xf32>
  return %y, %t : tensor<9x4xf32>, tensor<1x4xf32>
}

// The update waits for the sum that it puts in place.
// CHECK-LABEL: func.func @added(
// CHECK:       %[[NEW:.+]] = ad.fusion elementwise
// CHECK:         ad.dynamic_slice
// CHECK:         ad.add
// CHECK:       ad.fusion movement ({{.*}} = %[[NEW]]
func.func @added(%x: tensor<9x4xf32>, %u: tensor<1x4xf32>, %i: index, %j: index) -> tensor<9x4xf32> {
  %r = ad.dynamic_slice %x[%i, %j] : tensor<9x4xf32> -> tensor<1x4xf32>
  %s = ad.add %r, %u : tensor<1x4xf32>
  %y = ad.dynamic_update_slice %x, %s[%i, %j] : tensor<9x4xf32>, tensor<1x4xf32>
  return %y : tensor<9x4xf32>
}
