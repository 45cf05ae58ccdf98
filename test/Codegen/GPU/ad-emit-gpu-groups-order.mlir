// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu | FileCheck %s

// In the gradient of attention with a soft cap each exp needs a tanh, and both are computed for groups of elements: an
// exp must not join a group that comes before that of its tanh.
// CHECK: llvm.insertelement {{.*}} : vector<4xf32>
func.func private @f(%a1: tensor<1x4x256x2xbf16>, %a2: tensor<1x2x256x2xbf16>) -> tensor<1x4x256xf32> {
  %y, %l = ad.attention %a1, %a2, %a2 window 230 softcap 2.0 chunk 94 : tensor<1x4x256x2xbf16>, tensor<1x2x256x2xbf16>, tensor<1x2x256x2xbf16>
  return %l : tensor<1x4x256xf32>
}
func.func @main(%a1: tensor<1x4x256x2xbf16>, %a2: tensor<1x2x256x2xbf16>, %a4: tensor<1x4x256xf32>) -> (tensor<1x4x256x2xbf16>, tensor<1x2x256x2xbf16>) {
  %r:3 = ad.vjp @f(%a1, %a2) cotangents(%a4) wrt [0, 1] : (tensor<1x4x256x2xbf16>, tensor<1x2x256x2xbf16>, tensor<1x4x256xf32>) -> (tensor<1x4x256xf32>, tensor<1x4x256x2xbf16>, tensor<1x2x256x2xbf16>)
  return %r#1, %r#2 : tensor<1x4x256x2xbf16>, tensor<1x2x256x2xbf16>
}
