// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A batch without elements, whose axis is the last one of both operands: nothing lies side by side that could be packed.
//
// RUN: ad-runner %s --target reference --numerics reproducible --arg a=zeros --arg b=zeros
// RUN: ad-runner %s --target cpu --numerics reproducible --arg a=zeros --arg b=zeros
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --arg a=zeros --arg b=zeros

func.func @main(%a: tensor<128x64x0xf32> {ad.name = "a"}, %b: tensor<72x64x0xf32> {ad.name = "b"}) -> tensor<0x128x72xf32> {
  %y = ad.dot %a, %b batch [2] x [2] contract [1] x [1] : (tensor<128x64x0xf32>, tensor<72x64x0xf32>) -> tensor<0x128x72xf32>
  return %y : tensor<0x128x72xf32>
}
