// RUN: ad-opt %s --ad-decompose | FileCheck %s

// CHECK-LABEL: @one_axis_stays
func.func @one_axis_stays(%x: tensor<4x3xf16>) -> tensor<4xf16> {
  // CHECK: ad.reduce_sum %{{.+}} axes [1] : tensor<4x3xf16> -> tensor<4xf16>
  %y = ad.reduce_sum %x axes [1] : tensor<4x3xf16> -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// From the last axis to the first, in the accumulator's type, one cast at the end.
// CHECK-LABEL: @several_axes
func.func @several_axes(%x: tensor<2x3x4xf16>) -> tensor<3xf16> {
  // CHECK: %[[S2:.+]] = ad.reduce_sum %{{.+}} axes [2] keep_dims : tensor<2x3x4xf16> -> tensor<2x3x1xf32>
  // CHECK: %[[S0:.+]] = ad.reduce_sum %[[S2]] axes [0] keep_dims : tensor<2x3x1xf32> -> tensor<1x3x1xf32>
  // CHECK: %[[R:.+]] = ad.reshape %[[S0]] : tensor<1x3x1xf32> -> tensor<3xf32>
  // CHECK: ad.cast %[[R]] : tensor<3xf32> -> tensor<3xf16>
  %y = ad.reduce_sum %x axes [0, 2] : tensor<2x3x4xf16> -> tensor<3xf16>
  return %y : tensor<3xf16>
}

// CHECK-LABEL: @lanes_belong_to_the_innermost_axis
func.func @lanes_belong_to_the_innermost_axis(%x: tensor<2x3xf32>) -> tensor<1x1xf32> {
  // CHECK: ad.reduce_sum %{{.+}} axes [1] keep_dims {order = #ad.order<lanes = 32, chunk = 64>}
  // CHECK: ad.reduce_sum %{{.+}} axes [0] keep_dims {order = #ad.order<block = 512>}
  // CHECK-NOT: ad.reshape
  %y = ad.reduce_sum %x axes [0, 1] keep_dims {order = #ad.order<lanes = 32, chunk = 64>} : tensor<2x3xf32> -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// CHECK-LABEL: @maximum_keeps_its_type
func.func @maximum_keeps_its_type(%x: tensor<2x5x3xi8>) -> tensor<5xi8> {
  // CHECK: ad.reduce_max {{.*}} axes [2] keep_dims : tensor<2x5x3xi8> -> tensor<2x5x1xi8>
  // CHECK: ad.reduce_max {{.*}} axes [0] keep_dims : tensor<2x5x1xi8> -> tensor<1x5x1xi8>
  %y = ad.reduce_max %x axes [0, 2] : tensor<2x5x3xi8> -> tensor<5xi8>
  return %y : tensor<5xi8>
}

// What is the same in any order reduces axes that follow each other as one.
// CHECK-LABEL: @merged_axes
func.func @merged_axes(%x: tensor<2x5x3x7xi32>) -> (tensor<5xi32>, tensor<2x1x1x7xi32>) {
  // CHECK: %[[ROWS:.+]] = ad.reshape %{{.+}} : tensor<2x5x3x7xi32> -> tensor<2x5x21xi32>
  // CHECK: ad.reduce_min %[[ROWS]] axes [2] keep_dims : tensor<2x5x21xi32> -> tensor<2x5x1xi32>
  // CHECK: ad.reduce_min {{.*}} axes [0] keep_dims : tensor<2x5x1xi32> -> tensor<1x5x1xi32>
  %y = ad.reduce_min %x axes [0, 2, 3] : tensor<2x5x3x7xi32> -> tensor<5xi32>
  // CHECK: %[[SUMS:.+]] = ad.reduce_sum {{.*}} axes [1] keep_dims : tensor<2x15x7xi32> -> tensor<2x1x7xi32>
  // CHECK: ad.reshape %[[SUMS]] : tensor<2x1x7xi32> -> tensor<2x1x1x7xi32>
  %z = ad.reduce_sum %x axes [1, 2] keep_dims : tensor<2x5x3x7xi32> -> tensor<2x1x1x7xi32>
  return %y, %z : tensor<5xi32>, tensor<2x1x1x7xi32>
}

// Kept axes that are shorter than a vector become one, whatever other axes are reduced.
// CHECK-LABEL: @short_axes
func.func @short_axes(%x: tensor<9x8x2x3xf32>, %y: tensor<9x8x16xf32>) -> (tensor<8x2x3xf32>, tensor<8x16xf32>) {
  // CHECK: %[[WIDE:.+]] = ad.reshape %{{.+}} : tensor<9x8x2x3xf32> -> tensor<9x48xf32>
  // CHECK: %[[SUM:.+]] = ad.reduce_sum %[[WIDE]] axes [0] keep_dims : tensor<9x48xf32> -> tensor<1x48xf32>
  // CHECK: ad.reshape %[[SUM]] : tensor<1x48xf32> -> tensor<8x2x3xf32>
  %0 = ad.reduce_sum %x axes [0] : tensor<9x8x2x3xf32> -> tensor<8x2x3xf32>
  // CHECK: ad.reduce_sum %{{.+}} axes [0] : tensor<9x8x16xf32> -> tensor<8x16xf32>
  %1 = ad.reduce_sum %y axes [0] : tensor<9x8x16xf32> -> tensor<8x16xf32>
  return %0, %1 : tensor<8x2x3xf32>, tensor<8x16xf32>
}

// Sums of floats have an order; a computed operand belongs into the kernel of its reduction.
// CHECK-LABEL: @unmerged_axes
func.func @unmerged_axes(%x: tensor<2x3xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NOT: tensor<6xf32>
  %y = ad.reduce_sum %x axes [0, 1] : tensor<2x3xf32> -> tensor<f32>
  %0 = ad.exp %x : tensor<2x3xf32>
  %z = ad.reduce_max %0 axes [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %y, %z : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @mean
func.func @mean(%x: tensor<4x3xbf16>) -> tensor<4xbf16> {
  // CHECK: %[[SUM:.+]] = ad.reduce_sum %{{.+}} axes [1] : tensor<4x3xbf16> -> tensor<4xf32>
  // CHECK: %[[COUNT:.+]] = ad.constant dense<3.000000e+00> : tensor<4xf32>
  // CHECK: %[[MEAN:.+]] = ad.div %[[SUM]], %[[COUNT]]
  // CHECK: ad.cast %[[MEAN]] : tensor<4xf32> -> tensor<4xbf16>
  %y = ad.reduce_mean %x axes [1] : tensor<4x3xbf16> -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// CHECK-LABEL: @mean_of_unknown_size
// CHECK-SAME: %[[X:.+]]: tensor<?x3xf32>
func.func @mean_of_unknown_size(%x: tensor<?x3xf32>) -> tensor<f32> {
  // CHECK-DAG: %[[N:.+]] = tensor.dim %[[X]]
  // CHECK-DAG: %[[THREE:.+]] = arith.constant 3 : index
  // CHECK: %[[COUNT:.+]] = arith.muli %[[N]], %[[THREE]]
  // CHECK: %[[INTEGER:.+]] = arith.index_cast %[[COUNT]] : index to i64
  // CHECK: %[[FLOAT:.+]] = arith.sitofp %[[INTEGER]] : i64 to f32
  // CHECK: %[[FULL:.+]] = ad.full %[[FLOAT]] : f32 -> tensor<f32>
  // CHECK: ad.div %{{.+}}, %[[FULL]]
  %y = ad.reduce_mean %x axes [0, 1] : tensor<?x3xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @sum_to_shape
func.func @sum_to_shape(%x: tensor<5x4x3xf16>) -> tensor<1x3xf16> {
  // CHECK: ad.reduce_sum {{.*}} axes [1] keep_dims : tensor<5x4x3xf16> -> tensor<5x1x3xf32>
  // CHECK: ad.reduce_sum {{.*}} axes [0] keep_dims : tensor<5x1x3xf32> -> tensor<1x1x3xf32>
  // CHECK: ad.reshape {{.*}} : tensor<1x1x3xf32> -> tensor<1x3xf32>
  // CHECK: ad.cast {{.*}} : tensor<1x3xf32> -> tensor<1x3xf16>
  %y = ad.sum_to_shape %x : tensor<5x4x3xf16> -> tensor<1x3xf16>
  return %y : tensor<1x3xf16>
}

// A size that the origins show to be kept.
// CHECK-LABEL: @sum_to_shape_keeps_a_traced_size
func.func @sum_to_shape_keeps_a_traced_size(%x: tensor<?x4xf32>) -> tensor<?x1xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x4xf32>
  // CHECK: ad.reduce_sum {{.*}} axes [1] keep_dims : tensor<?x4xf32> -> tensor<?x1xf32>
  %y = ad.sum_to_shape %x(%n) : tensor<?x4xf32> -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// Only run time knows whether the axis is summed: it is split into one that is and one that stays.
// CHECK-LABEL: @sum_to_shape_of_unknown_axis
// CHECK-SAME: %[[X:.+]]: tensor<?x4xf16>, %[[WANT:.+]]: index
func.func @sum_to_shape_of_unknown_axis(%x: tensor<?x4xf16>, %n: index) -> tensor<?x4xf16> {
  // CHECK: %[[POSSIBLE:.+]] = arith.cmpi sge, %[[WANT]], %{{.+}} : index
  // CHECK: ad.require 3 %[[POSSIBLE]](%{{.+}}, %[[WANT]]) "ad.sum_to_shape"
  // CHECK: %[[HAVE:.+]] = tensor.dim %[[X]]
  // CHECK: %[[FITS:.+]] = arith.ori
  // CHECK: ad.require 0 %[[FITS]](%{{.+}}, %[[WANT]], %[[HAVE]]) "ad.sum_to_shape"
  // CHECK: %[[HAVE:.+]] = tensor.dim %[[X]]
  // CHECK: %[[ONE:.+]] = arith.constant 1 : index
  // CHECK: %[[REPEATED:.+]] = arith.cmpi eq, %[[WANT]], %[[ONE]]
  // CHECK: %[[SUMMED:.+]] = arith.select %[[REPEATED]], %[[HAVE]], %[[ONE]]
  // CHECK: %[[SINGLE:.+]] = arith.cmpi eq, %[[SUMMED]], %[[ONE]]
  // CHECK: %[[WIDE:.+]] = ad.cast %[[X]] : tensor<?x4xf16> -> tensor<?x4xf32>
  // CHECK: %[[SPLIT:.+]] = ad.reshape %[[WIDE]](%[[SUMMED]], %[[WANT]]) : tensor<?x4xf32> -> tensor<?x?x4xf32>
  // CHECK: %[[SUM:.+]] = ad.reduce_sum %[[SPLIT]] axes [0] {order = #ad.order<block = 512>}
  // CHECK: %[[ELEMENT:.+]] = ad.reduce_max %[[SPLIT]] axes [0]
  // CHECK: %[[MASK:.+]] = ad.full %[[SINGLE]](%[[WANT]]) : i1 -> tensor<?x4xi1>
  // CHECK: %[[Y:.+]] = ad.select %[[MASK]], %[[ELEMENT]], %[[SUM]]
  // CHECK: ad.cast %[[Y]] : tensor<?x4xf32> -> tensor<?x4xf16>
  %y = ad.sum_to_shape %x(%n) : tensor<?x4xf16> -> tensor<?x4xf16>
  return %y : tensor<?x4xf16>
}

// The innermost axis is summed in lanes, at whatever position it is after the split. Integers have no -0 to keep.
// CHECK-LABEL: @sum_to_shape_of_unknown_axes
func.func @sum_to_shape_of_unknown_axes(%x: tensor<?x?xi32>, %n: index) -> tensor<1x?xi32> {
  // CHECK: ad.reduce_sum %{{.+}} axes [1] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<?x?x?xi32> -> tensor<?x?xi32>
  // CHECK: ad.reduce_sum %{{.+}} axes [0] {order = #ad.order<block = 512>} : tensor<?x1x?xi32> -> tensor<1x?xi32>
  // CHECK-NOT: ad.reduce_max
  %y = ad.sum_to_shape %x(%n) : tensor<?x?xi32> -> tensor<1x?xi32>
  return %y : tensor<1x?xi32>
}

// A written order stays where short kept axes become one, whichever axis is reduced; of several axes, only the
// innermost one has lanes.
// CHECK-LABEL: @written_order_of_short_axes
func.func @written_order_of_short_axes(%x: tensor<65x2x2xf32>, %z: tensor<5x65x2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  // CHECK: ad.reduce_sum %{{.+}} axes [0] keep_dims {order = #ad.order<lanes = 8, chunk = 32>} : tensor<65x4xf32>
  %y = ad.reduce_sum %x axes [0] {order = #ad.order<lanes = 8, chunk = 32>} : tensor<65x2x2xf32> -> tensor<2x2xf32>
  // CHECK: ad.reduce_sum %{{.+}} axes [1] keep_dims {order = #ad.order<block = 512>} : tensor<5x65x4xf32>
  // CHECK: ad.reduce_sum %{{.+}} axes [0] keep_dims {order = #ad.order<block = 512>} : tensor<5x1x4xf32>
  %s = ad.reduce_sum %z axes [0, 1] {order = #ad.order<lanes = 8, chunk = 32>} : tensor<5x65x2x2xf32> -> tensor<2x2xf32>
  return %y, %s : tensor<2x2xf32>, tensor<2x2xf32>
}
