// RUN: not ad-opt %s --ad-verify-entry --split-input-file 2>&1 | FileCheck %s

// CHECK: verify-entry-invalid.mlir:[[#@LINE+1]]:1: error: entry '@main' has neither results nor an ad.receive, so that nothing of it can be seen
func.func @main(%x: tensor<4xf32>) {
  %y = ad.exp %x : tensor<4xf32>
  return
}

// -----

// CHECK: error: expected a function '@main' as the entry
// CHECK: verify-entry-invalid.mlir:[[#@LINE+1]]:1: note: there is a function '@train'
func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// CHECK: verify-entry-invalid.mlir:[[#@LINE+1]]:1: error: entry '@main' has no body
func.func private @main(tensor<4xf32>) -> tensor<4xf32>
