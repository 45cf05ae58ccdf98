// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s | FileCheck %s
// RUN: ad-opt %s --mlir-print-op-generic | ad-opt | FileCheck %s

// Buffers are named after their storage.
// CHECK-LABEL: func.func @buffers
// CHECK-NEXT: %arena = ad.buffer <arena, bytes = 16>
// CHECK-NEXT: %arena_0 = ad.buffer <arena, offset = 64, bytes = 0>
// CHECK-NEXT: %pool2 = ad.buffer <pool, number = 2, offset = 4, bytes = 8>
// CHECK-NEXT: %argument1 = ad.buffer <argument, number = 1, bytes = 8>
// CHECK-NEXT: %result0 = ad.buffer <result, bytes = 16>
func.func @buffers(%n: index, %x: tensor<?x2xf32> {ad.donated = 1}) -> (tensor<4xf32>, tensor<?x2xf32>) {
  %0 = ad.buffer <arena, number = 0, offset = 0, bytes = 16>
  %1 = ad.buffer <arena, offset = 64, bytes = 0>
  %2 = ad.buffer <pool, number = 2, offset = 4, bytes = 8>
  %3 = ad.buffer <argument, number = 1, bytes = 8>
  %4 = ad.buffer <result, bytes = 16>
  // CHECK: ad.feed "a" into(%arena) : tensor<4xf32>
  %a = ad.feed "a" into(%0) : tensor<4xf32>
  // CHECK: ad.feed "b"(%{{.+}}) into(%pool2) : tensor<?x2xf32>
  %b = ad.feed "b"(%n) into(%2) : tensor<?x2xf32>
  // CHECK: ad.copy %{{.+}} into(%result0) : tensor<4xf32>
  %c = ad.copy %a into(%4) : tensor<4xf32>
  return %c, %b : tensor<4xf32>, tensor<?x2xf32>
}
