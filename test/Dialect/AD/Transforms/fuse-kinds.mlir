// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-set-numerics --ad-fuse | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=layers | FileCheck %s

// The members of each kind of fusion; operations of another size stay outside. Members of other groups: fuse-layers.mlir.

// CHECK-LABEL: @dot_and_elementwise
func.func @dot_and_elementwise(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.relu
  // CHECK-NEXT: ad.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %d = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %r = ad.relu %d : tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// CHECK-LABEL: @reduction_and_elementwise
func.func @reduction_and_elementwise(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: ad.fusion reduce
  // CHECK-NEXT: ad.reduce_sum
  // CHECK-NEXT: ad.relu
  // CHECK-NEXT: ad.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %s = ad.reduce_sum %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %r = ad.relu %s : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: ad.fusion elementwise
  // CHECK-NEXT: ad.add
  // CHECK-NEXT: ad.relu
  // CHECK-NEXT: ad.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %s = ad.add %x, %y : tensor<4x8xf32>
  %r = ad.relu %s : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// CHECK-LABEL: @another_size
func.func @another_size(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %y: tensor<3xf32>) -> (tensor<4x2xf32>, tensor<3xf32>) {
  // CHECK-COUNT-2: ad.fusion
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %d = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %r = ad.relu %y : tensor<3xf32>
  return %d, %r : tensor<4x2xf32>, tensor<3xf32>
}
