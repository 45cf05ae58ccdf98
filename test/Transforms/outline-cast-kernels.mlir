// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that only cast are named for it.
//
// RUN: ad-opt %s --convert-ad-to-linalg --ad-outline-kernels | FileCheck %s

// CHECK-LABEL: func.func @casts
// CHECK: ad.launch @cast_0(
// CHECK: ad.launch @cast_0_0(
func.func @casts(%x: tensor<4xf32>, %n: tensor<?xi8>) -> (tensor<4xbf16>, tensor<4xf16>, tensor<?xf32>) {
  %y:2 = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf16>) {
    %0 = ad.cast %a : tensor<4xf32> -> tensor<4xbf16>
    %1 = ad.cast %a : tensor<4xf32> -> tensor<4xf16>
    ad.yield %0, %1 : tensor<4xbf16>, tensor<4xf16>
  }
  %z = ad.fusion elementwise (%a = %n) : (tensor<?xi8>) -> tensor<?xf32> {
    %0 = ad.cast %a : tensor<?xi8> -> tensor<?xf32>
    ad.yield %0 : tensor<?xf32>
  }
  return %y#0, %y#1, %z : tensor<4xbf16>, tensor<4xf16>, tensor<?xf32>
}

// Another computation, a movement and a broadcast are more than a cast.
// CHECK-LABEL: func.func @others
// CHECK-NOT: @cast
// CHECK: return
func.func @others(%x: tensor<4x3xf32>, %s: tensor<f32>) -> (tensor<4x3xbf16>, tensor<3x4xbf16>, tensor<4x3xf32>) {
  %y = ad.fusion elementwise (%a = %x) : (tensor<4x3xf32>) -> tensor<4x3xbf16> {
    %0 = ad.exp %a : tensor<4x3xf32>
    %1 = ad.cast %0 : tensor<4x3xf32> -> tensor<4x3xbf16>
    ad.yield %1 : tensor<4x3xbf16>
  }
  %z = ad.fusion elementwise (%a = %x) : (tensor<4x3xf32>) -> tensor<3x4xbf16> {
    %0 = ad.transpose %a [1, 0] : tensor<4x3xf32>
    %1 = ad.cast %0 : tensor<3x4xf32> -> tensor<3x4xbf16>
    ad.yield %1 : tensor<3x4xbf16>
  }
  %w = ad.fusion movement (%a = %s) : (tensor<f32>) -> tensor<4x3xf32> {
    %0 = ad.broadcast %a : tensor<f32> -> tensor<4x3xf32>
    ad.yield %0 : tensor<4x3xf32>
  }
  return %y, %z, %w : tensor<4x3xbf16>, tensor<3x4xbf16>, tensor<4x3xf32>
}
