// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion | FileCheck %s
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg | FileCheck %s --check-prefix=LINALG

// The number of rows is the same wherever it comes from, so a softmax is one kernel, and reads no row maximum by a computed index.
// CHECK-LABEL: @softmax
// CHECK: ad.fusion reduce
// CHECK: ad.reduce_max
// CHECK: ad.broadcast {{.*}}ad.same_sizes
// CHECK: ad.reduce_sum
// CHECK: ad.broadcast {{.*}}ad.same_sizes
// CHECK: ad.div
// CHECK-NOT: ad.fusion
// LINALG-LABEL: @softmax
// LINALG-NOT: tensor.extract
// LINALG: return
func.func @softmax(%x: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %y = ad.softmax %x axis 1 : tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

// Of another tensor the size may be 1: whether it repeats is decided when it runs.
// CHECK-LABEL: @perhaps_one_row
// CHECK: ad.broadcast
// CHECK-NOT: ad.same_sizes
// LINALG-LABEL: @perhaps_one_row
// LINALG: tensor.extract
func.func @perhaps_one_row(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %z = ad.mul %x, %y : tensor<?x8xf32>, tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}
