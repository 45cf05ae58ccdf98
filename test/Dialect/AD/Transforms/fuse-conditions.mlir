// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-fuse | FileCheck %s

// A kernel runs after the conditions that guard its members, since only they make its reads safe.

// The condition needs the first operation and guards the second, so that they are two kernels.
// CHECK-LABEL: func.func @condition_between
func.func @condition_between(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  // CHECK: %[[A:.+]] = ad.fusion
  // CHECK-NEXT: ad.exp
  // CHECK-NEXT: ad.yield
  // CHECK: %[[SIZE:.+]] = tensor.dim %[[A]]
  // CHECK: ad.require 0 %{{.+}}(%[[SIZE]], %{{.+}})
  // CHECK-NEXT: ad.fusion elementwise (%{{.+}} = %[[A]])
  // CHECK-NEXT: ad.sqrt
  %a = ad.exp %x : tensor<?xf32>
  %size = tensor.dim %a, %zero : tensor<?xf32>
  %ok = arith.cmpi eq, %size, %n : index
  ad.require 0 %ok(%size, %n) "ad.sqrt"
  %b = ad.sqrt %a : tensor<?xf32>
  return %b : tensor<?xf32>
}

// One kernel, although something that runs before the condition reads from it: then the condition comes first.
// CHECK-LABEL: func.func @condition_after_user
func.func @condition_after_user(%x: tensor<?xf32>, %ok: i1) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK-NEXT: ad.require
  // CHECK-NEXT: %[[BOTH:.+]]:2 = ad.fusion elementwise
  // CHECK-NEXT: ad.exp
  // CHECK-NEXT: ad.sqrt
  // CHECK: ad.fusion reduce (%{{.+}} = %[[BOTH]]#0)
  %a = ad.exp %x : tensor<?xf32>
  %sums = ad.cumsum %a axis 0 : tensor<?xf32>
  ad.require 0 %ok() "ad.sqrt"
  %b = ad.sqrt %a : tensor<?xf32>
  return %b, %sums : tensor<?xf32>, tensor<?xf32>
}
