// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu | FileCheck %s
// RUN: ad-opt %s --ad-to-cpu=dot-products=true | FileCheck %s --check-prefix=ASKED

// Instructions that not every CPU has are used only when the options name them.
// CHECK-NOT: vpdpbusd
// ASKED: vpdpbusd
func.func @main(%x: tensor<8x64xi8>, %w: tensor<64x16xi8>) -> tensor<8x16xi32> {
  %y = ad.dot %x, %w : (tensor<8x64xi8>, tensor<64x16xi8>) -> tensor<8x16xi32>
  return %y : tensor<8x16xi32>
}
