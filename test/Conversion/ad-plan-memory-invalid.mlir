// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-plan-memory --split-input-file --verify-diagnostics

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.exp' op makes a tensor in the host program that has no place in memory; run ad-fuse and ad-outline-kernels first}}
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op has unstructured control flow; the planner expects scf.for, scf.if and scf.while}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

func.func @larger_than_memory() -> tensor<9223372036854775807xf32> {
  // expected-error @+1 {{'ad.feed' op makes a tensor that is larger than all memory: 'tensor<9223372036854775807xf32>'}}
  %w = ad.feed "w" : tensor<9223372036854775807xf32>
  return %w : tensor<9223372036854775807xf32>
}

// -----

// Empty, whatever the other sizes are.
func.func @empty() -> tensor<9223372036854775807x0xf32> {
  %w = ad.feed "w" : tensor<9223372036854775807x0xf32>
  return %w : tensor<9223372036854775807x0xf32>
}
