// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The contract is written once, before everything else. When all operations are there, those get broadcasts whose sizes
// the analysis cannot compare any more.
// RUN: ad-opt %s --ad-to-cpu --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s
// RUN: ad-opt %s --ad-to-gpu=format=isa --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s
// RUN: ad-opt %s --ad-to-linalg --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s

// CHECK: ad-set-numerics
// CHECK: ad-differentiate
// CHECK-NOT: ad-set-numerics
// CHECK: ad-decompose
// CHECK-NOT: ad-set-numerics
// CHECK: ad-write-broadcasts
// CHECK-NOT: ad-set-numerics
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
