// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-fuse=target=cpu | FileCheck %s
// RUN: ad-opt %s --ad-fuse=target=gpu | FileCheck %s --check-prefix=GPU

// On the CPU a contraction reads a part of an argument in place, at an offset that is a value.
// CHECK-LABEL: func.func @sliced(
// CHECK-NOT:   ad.fusion movement
// CHECK:       ad.fusion dot
// CHECK:         %[[PART:.+]] = ad.dynamic_slice
// CHECK:         ad.dot %{{.+}}, %[[PART]]
// GPU-LABEL: func.func @sliced(
// GPU:       %[[PART:.+]] = ad.fusion movement
// GPU:       ad.fusion dot ({{.*}} = %[[PART]]
func.func @sliced(%x: tensor<8x4xf32>, %w: tensor<12x4xf32>, %i: index, %j: index) -> tensor<8x6xf32> {
  %l = ad.dynamic_slice %w[%i, %j] : tensor<12x4xf32> -> tensor<6x4xf32>
  %y = ad.dot %x, %l contract [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// Pairs of narrow elements are found by rows, and reshaped parts by computed indices.
// CHECK-LABEL: func.func @narrow(
// CHECK:       %[[PART:.+]] = ad.fusion movement
// CHECK:       ad.fusion dot ({{.*}} = %[[PART]]
func.func @narrow(%x: tensor<8x4xbf16>, %w: tensor<12x4xbf16>, %i: index, %j: index) -> tensor<8x6xbf16> {
  %l = ad.dynamic_slice %w[%i, %j] : tensor<12x4xbf16> -> tensor<6x4xbf16>
  %y = ad.dot %x, %l contract [1] x [1] : (tensor<8x4xbf16>, tensor<6x4xbf16>) -> tensor<8x6xbf16>
  return %y : tensor<8x6xbf16>
}

// CHECK-LABEL: func.func @reshaped(
// CHECK:       %[[PART:.+]] = ad.fusion movement
// CHECK:       ad.fusion dot ({{.*}} = %{{.+}}
func.func @reshaped(%x: tensor<8x4xf32>, %w: tensor<3x4x6xf32>, %i: index, %j: index) -> tensor<8x6xf32> {
  %l = ad.dynamic_slice %w[%i, %j, %j] : tensor<3x4x6xf32> -> tensor<1x4x6xf32>
  %m = ad.reshape %l : tensor<1x4x6xf32> -> tensor<4x6xf32>
  %y = ad.dot %x, %m contract [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
