// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @misspelt(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.reduce_sum' op has no attribute 'ordr', expected one of allow, axes, keepDims, order}}
  %y = ad.reduce_sum %x axes [1] {ordr = #ad.order<block = 7>} : tensor<4x3xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Also in the form that every operation can be written in.
func.func @generic_form(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.exp' op has no attribute 'lenght', expected one of allow}}
  %y = "ad.exp"(%x) {lenght = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Segments of operands are no attribute that anybody writes.
func.func @without_attributes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.barrier' op has no attribute 'name'; it takes none without a dialect's prefix}}
  %y = ad.barrier %x {name = "y"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @segments(%x: tensor<4xf32>, %dy: tensor<4xf32>) {
  // expected-error @+1 {{'ad.vjp' op has no attribute 'with_respect_to', expected one of callee, wrt}}
  %y, %dx = ad.vjp @f(%x) cotangents(%dy) wrt [0] {with_respect_to = 1 : i64}
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Attributes of other dialects, and those that our passes write for later ones.
func.func @prefixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.exp %x {ad.same_sizes, other.note = "kept"} : tensor<4xf32>
  return %y : tensor<4xf32>
}
