// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contracts that contradict themselves, and orders whose numbers are wrong, are refused at the word that is.
// RUN: not ad-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:57: error: expected 'none' without other permissions
module attributes {ad.numerics = #ad.numerics<fast, mma|none>} {
}
// -----
// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:60: error: expected 'none' without other permissions
module attributes {ad.numerics = #ad.numerics<strict, none|reorder>} {
}
// -----
// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:59: error: expected distinct permissions, but got 'mma' twice
module attributes {ad.numerics = #ad.numerics<strict, mma|mma>} {
}
// -----
// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:55: error: expected reorder, {{.*}}, finite or none, but got 'fast', a mode; permissions follow one mode
module attributes {ad.numerics = #ad.numerics<strict, fast>} {
}
// -----
// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:61: error: expected no permissions after reproducible, which promises the same bits everywhere, but got reorder|approx; use strict or fast
module attributes {ad.numerics = #ad.numerics<reproducible, reorder|approx>} {
}
// -----
// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:74: error: expected a positive chunk or block, but got 0
func.func @chunk() attributes {test.order = #ad.order<lanes = 4, chunk = 0>} {
  return
}
// -----
// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:63: error: expected a power of two as the number of lanes, but got 3
func.func @lanes() attributes {test.order = #ad.order<lanes = 3, chunk = 3>} {
  return
}
// -----
// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:72: error: expected a power of two as the number of lanes, but got -4
func.func @negative_lanes() attributes {test.order = #ad.order<lanes = -4, chunk = 4>} {
  return
}
// -----
// CHECK: numerics-invalid.mlir:[[#@LINE+1]]:63: error: expected a positive chunk or block, but got -512
func.func @block() attributes {test.order = #ad.order<block = -512>} {
  return
}
// -----
// Alone, none is a permission, and permissions of a mode may be written again.
module attributes {ad.numerics = #ad.numerics<reproducible, none>} {
  func.func @fine() attributes {ad.numerics = #ad.numerics<strict, mma|narrow>} {
    return
  }
}
// CHECK-NOT: error
