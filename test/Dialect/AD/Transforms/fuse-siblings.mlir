// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-set-numerics --ad-fuse | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=layers | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=single | FileCheck %s --check-prefix=SINGLE

// Independent elementwise operations of one size become one kernel, and stay apart with `policy=single`.
// CHECK-LABEL: @independent
// SINGLE-LABEL: @independent
func.func @independent(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) {
  // CHECK: %{{.+}}:2 = ad.fusion elementwise
  // CHECK: ad.exp
  // CHECK: ad.sin
  // CHECK: ad.fusion elementwise
  // CHECK: ad.cos
  // CHECK-NOT: ad.fusion
  // CHECK: return
  // SINGLE-COUNT-3: ad.fusion
  // SINGLE-NOT: ad.fusion
  // SINGLE: return
  %a = ad.exp %x : tensor<4x8xf32>
  %b = ad.sin %y : tensor<4x8xf32>
  %c = ad.cos %z : tensor<8xf32>
  return %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>
}
