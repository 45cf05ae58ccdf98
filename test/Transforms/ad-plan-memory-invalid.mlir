// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-plan-memory --split-input-file --verify-diagnostics

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.exp' op is in no kernel; run --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-outline-kernels first}}
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'cf.br' op is not supported in a program for this target; write scf.if, scf.for or scf.while instead}}
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

func.func @larger_than_memory() -> tensor<9223372036854775807xf32> {
  // expected-error @+1 {{the result of type 'tensor<9223372036854775807xf32>' is larger than all memory}}
  %w = ad.feed "w" : tensor<9223372036854775807xf32>
  return %w : tensor<9223372036854775807xf32>
}

// -----

// Empty, whatever the other sizes are.
func.func @empty() -> tensor<9223372036854775807x0xf32> {
  %w = ad.feed "w" : tensor<9223372036854775807x0xf32>
  return %w : tensor<9223372036854775807x0xf32>
}
