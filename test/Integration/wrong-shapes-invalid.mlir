// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --verify-diagnostics

// Shapes that do not fit.

func.func @dot_mismatch(%a: tensor<4x8xf32>, %b: tensor<9x2xf32>) {
  // expected-error @+1 {{'ad.dot' op contracting axes 1 and 0 have sizes 8 and 9}}
  %c = ad.dot %a, %b : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @concat_mismatch(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'ad.concat' op expected inputs that agree outside axis 1, but dimension 0 has sizes 2 and 3}}
  %c = ad.concat axis 1 %a, %b : tensor<2x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @permutation_too_short(%a: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'ad.transpose' op expected a permutation of the axes of rank 3, but got [1, 0]}}
  %b = ad.transpose %a [1, 0] : tensor<2x3x4xf32>
  return
}

// -----

func.func @broadcast_of_no_one(%a: tensor<3xf32>) {
  // expected-error @+1 {{'ad.broadcast' op cannot broadcast 3 to 6: sizes 3 and 6 of dimension 0 differ}}
  %b = ad.broadcast %a : tensor<3xf32> -> tensor<6xf32>
  return
}

// -----

func.func @implicit_broadcast_of_no_one(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'ad.add' operand shapes do not broadcast: dimension 1 has sizes 3 and 2}}
  %c = ad.add %a, %b : tensor<2x3xf32>, tensor<2xf32>
  return
}
