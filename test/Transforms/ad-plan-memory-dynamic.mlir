// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-ad-to-linalg --ad-outline-kernels --ad-plan-memory | FileCheck %s

// Sizes that come from one axis share a pool, whose layout is in bytes per element of that axis. The third value has the bytes
// of the first, which is dead; the fourth has another size and a pool of its own.
// CHECK-LABEL: func.func @classes
// CHECK-NEXT: %[[A:.+]] = ad.buffer <pool, number = 1, bytes = 4>
// CHECK-NEXT: %[[B:.+]] = ad.buffer <pool, number = 1, offset = 4, bytes = 8>
// CHECK-NEXT: %[[C:.+]] = ad.buffer <pool, number = 1, bytes = 4>
// CHECK-NEXT: %[[D:.+]] = ad.buffer <pool, number = 2, bytes = 4>
// CHECK: ad.feed "a"(%{{.+}}) into(%[[A]])
// CHECK: ad.feed "b"(%{{.+}}) into(%[[B]])
// CHECK: ad.feed "c"(%{{.+}}) into(%[[C]])
// CHECK: ad.feed "d"(%{{.+}}) into(%[[D]])
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
// CHECK-NEXT: ad.buffer <pool, number = 1, bytes = 4>
// CHECK-NEXT: ad.buffer <pool, number = 1, bytes = 4>
// CHECK-NEXT: ad.buffer <pool, number = 2, bytes = 4>
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

// One axis whose size is a product of n and m is as large as two axes of n and m.
// CHECK-LABEL: func.func @merged_axes
// CHECK-NEXT: ad.buffer <pool, number = 1, bytes = 4>
// CHECK-NEXT: ad.buffer <pool, number = 1, bytes = 4>
// CHECK-NEXT: ad.buffer <pool, number = 2, bytes = 4>
func.func @merged_axes(%x: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %nm = arith.muli %n, %m : index
  %nn = arith.muli %n, %n : index
  %a = ad.feed "a"(%nm) : tensor<?xf32>
  ad.receive "a"(%a) : tensor<?xf32>
  %b = ad.feed "b"(%m, %n) : tensor<?x?xf32>
  ad.receive "b"(%b) : tensor<?x?xf32>
  %c = ad.feed "c"(%nn) : tensor<?xf32>
  ad.receive "c"(%c) : tensor<?xf32>
  return
}
