// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Output of one debug type, of several, and none of a type that nobody asked for.
//
// REQUIRES: assertions
// RUN: ad-opt %s --ad-set-numerics --ad-fuse --debug-only=ad-fuse 2>&1 >/dev/null | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse --debug-only=greedy-rewriter,ad-fuse 2>&1 >/dev/null | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse --debug-only=greedy-rewriter 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=OTHER --allow-empty
// CHECK: [ad-fuse{{.*}}ad.exp joins a fusion of 1 operations
// OTHER-NOT: ad-fuse
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ad.exp %x : tensor<4xf32>
  %1 = ad.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
