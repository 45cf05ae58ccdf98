// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-ad-to-linalg --ad-outline-kernels --ad-plan-memory | FileCheck %s

// Sizes that come from one axis share a pool, whose layout is in bytes per element of that axis. The third value takes the place of the
// first, which is dead; the fourth has another size and a pool of its own.
// CHECK-LABEL: func.func @classes
// CHECK-SAME: ad.buffers = array<i64: 0, 1, 0, 4, 0, 1, 4, 8, 0, 1, 0, 4, 0, 2, 0, 4>
// CHECK-SAME: ad.pool_bytes = array<i64: 12, 4>
func.func @classes(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %a = ad.feed "a"(%n) : tensor<?xf32>
  %b = ad.feed "b"(%n) : tensor<?x2xf32>
  ad.receive "a"(%a) : tensor<?xf32>
  %c = ad.feed "c"(%n) : tensor<?xf32>
  ad.receive "b"(%b, %c) : tensor<?x2xf32>, tensor<?xf32>
  %d = ad.feed "d"(%m) : tensor<?xf32>
  ad.receive "d"(%d) : tensor<?xf32>
  return
}

// Two sizes: n rows of m, and m rows of n, are as large; n rows of n are not.
// CHECK-LABEL: func.func @products
// CHECK-SAME: ad.buffers = array<i64: 0, 1, 0, 4, 0, 1, 0, 4, 0, 2, 0, 4>
func.func @products(%x: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %a = ad.feed "a"(%n, %m) : tensor<?x?xf32>
  ad.receive "a"(%a) : tensor<?x?xf32>
  %b = ad.feed "b"(%m, %n) : tensor<?x?xf32>
  ad.receive "b"(%b) : tensor<?x?xf32>
  %c = ad.feed "c"(%n, %n) : tensor<?x?xf32>
  ad.receive "c"(%c) : tensor<?x?xf32>
  return
}
