// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows of a tensor that has none, next to constants that simplification makes of them.
// RUN: ad-runner %s --target reference --arg x=zeros --print | FileCheck %s
// RUN: ad-runner %s --target cpu --arg x=zeros --print | FileCheck %s
// RUN: ad-runner %s --target gpu-sim --arg x=zeros --print | FileCheck %s
// CHECK: res0: tensor<0x8x2xf64> =
// CHECK-NEXT: []
func.func @main(%x: tensor<0x8x2xf64> {ad.name = "x"}) -> tensor<0x8x2xf64> {
  %scale = ad.constant dense<[1.5, -2.0]> : tensor<2xf64>
  %y = ad.rms_norm %x, %scale epsilon 1.0e-5 : tensor<0x8x2xf64>, tensor<2xf64>
  return %y : tensor<0x8x2xf64>
}
