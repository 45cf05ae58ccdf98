// RUN: ad-opt %s --ad-select-kernels | FileCheck %s

// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  // CHECK: kernel = "elementwise"
  %y = ad.fusion elementwise (%a = %x, %c = %b) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> {
    %w = ad.broadcast %c : tensor<3xf32> -> tensor<4x3xf32>
    %one = ad.constant dense<1.0> : tensor<4x3xf32>
    %s = ad.add %a, %w : tensor<4x3xf32>
    %t = ad.add %s, %one : tensor<4x3xf32>
    ad.yield %t : tensor<4x3xf32>
  }
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: @row
func.func @row(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // CHECK: kernel = "row"
  %y = ad.fusion reduce (%a = %x) : (tensor<4x3xf32>) -> tensor<4xf32> {
    %s = ad.reduce_sum %a axes [1] : tensor<4x3xf32> -> tensor<4xf32>
    ad.yield %s : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: kernel = "row"
  %y = ad.fusion reduce (%a = %x) : (tensor<4x3xf32>) -> tensor<4x3xf32> {
    %m = ad.reduce_max %a axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    %w = ad.broadcast %m : tensor<4x1xf32> -> tensor<4x3xf32>
    %d = ad.sub %a, %w : tensor<4x3xf32>
    ad.yield %d : tensor<4x3xf32>
  }
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: @transposition
func.func @transposition(%x: tensor<4x3x2xf32>) -> tensor<4x2x3xf32> {
  // CHECK: kernel = "transposition"
  %y = ad.fusion movement (%a = %x) : (tensor<4x3x2xf32>) -> tensor<4x2x3xf32> {
    %t = ad.transpose %a [0, 2, 1] : tensor<4x3x2xf32>
    ad.yield %t : tensor<4x2x3xf32>
  }
  return %y : tensor<4x2x3xf32>
}

// A permutation of whole rows is copied, not transposed.
// CHECK-LABEL: @exchanged_rows
func.func @exchanged_rows(%x: tensor<4x3x2xf32>) -> tensor<3x4x2xf32> {
  // CHECK: kernel = "generic"
  %y = ad.fusion movement (%a = %x) : (tensor<4x3x2xf32>) -> tensor<3x4x2xf32> {
    %t = ad.transpose %a [1, 0, 2] : tensor<4x3x2xf32>
    ad.yield %t : tensor<3x4x2xf32>
  }
  return %y : tensor<3x4x2xf32>
}

// CHECK-LABEL: @other_axis
func.func @other_axis(%x: tensor<4x3xf32>) -> tensor<3xf32> {
  // CHECK: kernel = "generic"
  %y = ad.fusion reduce (%a = %x) : (tensor<4x3xf32>) -> tensor<3xf32> {
    %s = ad.reduce_sum %a axes [0] : tensor<4x3xf32> -> tensor<3xf32>
    ad.yield %s : tensor<3xf32>
  }
  return %y : tensor<3xf32>
}

// CHECK-LABEL: @contraction
func.func @contraction(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // CHECK: kernel = "contraction"
  %y = ad.fusion dot (%a = %x, %b = %w) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32> {
    %d = ad.dot %a, %b : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    ad.yield %d : tensor<4x2xf32>
  }
  return %y : tensor<4x2xf32>
}

// CHECK-LABEL: @chosen_already
func.func @chosen_already(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: kernel = "generic"
  %y = ad.fusion elementwise (%a = %x) {kernel = "generic"} : (tensor<4xf32>) -> tensor<4xf32> {
    %e = ad.exp %a : tensor<4xf32>
    ad.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @rank_0
func.func @rank_0(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: kernel = "generic"
  %y = ad.fusion movement (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %t = ad.transpose %a [] : tensor<f32>
    ad.yield %t : tensor<f32>
  }
  return %y : tensor<f32>
}

// Numbers along an axis, and axes of size 1 that come or go, leave elements where they are.
// CHECK-LABEL: @positions
func.func @positions(%x: tensor<4xi32>) -> tensor<4x3xi1> {
  // CHECK: kernel = "elementwise"
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xi32>) -> tensor<4x3xi1> {
    %n = ad.iota axis 1 : tensor<4x3xi32>
    %r = ad.reshape %a : tensor<4xi32> -> tensor<4x1xi32>
    %b = ad.broadcast %r : tensor<4x1xi32> -> tensor<4x3xi32>
    %c = ad.compare eq %n, %b : tensor<4x3xi32>
    ad.yield %c : tensor<4x3xi1>
  }
  return %y : tensor<4x3xi1>
}

// CHECK-LABEL: @other_shape
func.func @other_shape(%x: tensor<4x3xf32>) -> tensor<12xf32> {
  // CHECK: kernel = "generic"
  %y = ad.fusion movement (%a = %x) : (tensor<4x3xf32>) -> tensor<12xf32> {
    %r = ad.reshape %a : tensor<4x3xf32> -> tensor<12xf32>
    ad.yield %r : tensor<12xf32>
  }
  return %y : tensor<12xf32>
}

// Elements at indices of a tensor are updated, from a tensor of one number or another one on.
// CHECK-LABEL: @scatter
func.func @scatter(%x: tensor<9x4xf32>, %i: tensor<5xi32>, %u: tensor<5x4xf32>) -> tensor<9x4xf32> {
  // CHECK: kernel = "scatter"
  %y = ad.fusion nest (%a = %x, %b = %i, %c = %u) : (tensor<9x4xf32>, tensor<5xi32>, tensor<5x4xf32>) -> tensor<9x4xf32> {
    %s = ad.scatter add %a[%b], %c axes [0] slices [1] : tensor<9x4xf32>, tensor<5xi32>, tensor<5x4xf32>
    ad.yield %s : tensor<9x4xf32>
  }
  return %y : tensor<9x4xf32>
}
