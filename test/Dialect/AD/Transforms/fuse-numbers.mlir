// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One fusion reduces tensors of several shapes, each to one number.
//
// RUN: ad-opt %s --ad-set-numerics --ad-fuse | FileCheck %s

// The magnitudes are computed inside of their reductions. A gradient that another kernel computes and others read stays
// outside.
// CHECK-LABEL: @largest
// CHECK: %[[G:.+]] = ad.fusion elementwise
// CHECK-NEXT: ad.exp
// CHECK: ad.fusion reduce (%{{.+}} = %[[G]], %{{.+}} = %arg1, %{{.+}} = %{{.+}}) {{.*}} -> tensor<i1> {
// CHECK-COUNT-3: ad.reduce_max
// CHECK: ad.is_finite
// CHECK-NOT: ad.fusion
// CHECK: return
func.func @largest(%x: tensor<12xf32>, %b: tensor<5xf16>, %c: tensor<2x3xf32>) -> (tensor<12xf32>, tensor<i1>) {
  %a = ad.exp %x : tensor<12xf32>
  %0 = ad.abs %a : tensor<12xf32>
  %1 = ad.reduce_max %0 axes [0] : tensor<12xf32> -> tensor<f32>
  %2 = ad.abs %b : tensor<5xf16>
  %3 = ad.reduce_max %2 axes [0] : tensor<5xf16> -> tensor<f16>
  %4 = ad.cast %3 : tensor<f16> -> tensor<f32>
  %v = ad.reshape %c : tensor<2x3xf32> -> tensor<6xf32>
  %5 = ad.abs %v : tensor<6xf32>
  %6 = ad.reduce_max %5 axes [0] : tensor<6xf32> -> tensor<f32>
  %7 = ad.max %1, %4 : tensor<f32>
  %8 = ad.max %7, %6 : tensor<f32>
  %9 = ad.is_finite %8 : tensor<f32> -> tensor<i1>
  return %a, %9 : tensor<12xf32>, tensor<i1>
}

// A reduction of rows has results for each row, and no part in it.
// CHECK-LABEL: @rows
// CHECK: ad.fusion reduce
// CHECK-NEXT: ad.reduce_sum %{{.+}} axes [1]
// CHECK-NEXT: ad.yield
// CHECK: ad.fusion reduce
// CHECK-COUNT-2: ad.reduce_sum %{{.+}} axes [0]
func.func @rows(%a: tensor<4x3xf32>, %b: tensor<5xf32>) -> tensor<f32> {
  %0 = ad.reduce_sum %a axes [1] : tensor<4x3xf32> -> tensor<4xf32>
  %1 = ad.reduce_sum %0 axes [0] : tensor<4xf32> -> tensor<f32>
  %2 = ad.reduce_sum %b axes [0] : tensor<5xf32> -> tensor<f32>
  %3 = ad.add %1, %2 : tensor<f32>
  return %3 : tensor<f32>
}
