// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-ad-to-linalg --verify-diagnostics

func.func @softmax(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = ad.fusion reduce (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'ad.softmax' op cannot be lowered to linalg here; run --ad-to-cpu-frontend before --ad-to-cpu-fusion, or before --ad-to-gpu-fusion for a GPU}}
    %0 = ad.softmax %a axis 0 : tensor<4xf32>
    ad.yield %0 : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}
