// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that loop along an axis run where it has no elements.
// RUN: ad-runner %s --target reference --arg x=normal:1 --kernel softmax=online,log_softmax=online,layer_norm=welford --print | FileCheck %s
// RUN: ad-runner %s --target cpu --arg x=normal:1 --kernel softmax=online,log_softmax=online,layer_norm=welford --print | FileCheck %s
// RUN: ad-runner %s --target gpu-sim --arg x=normal:1 --kernel softmax=online,log_softmax=online,layer_norm=welford --print | FileCheck %s
// CHECK: p: tensor<2x0xf32> =
// CHECK: q: tensor<2x0xf32> =
// CHECK: r: tensor<2x0xf32> =
func.func @main(%x: tensor<2x0xf32> {ad.name = "x"})
    -> (tensor<2x0xf32> {ad.name = "p"}, tensor<2x0xf32> {ad.name = "q"}, tensor<2x0xf32> {ad.name = "r"}) {
  %p = ad.softmax %x axis 1 : tensor<2x0xf32>
  %q = ad.log_softmax %x axis 1 : tensor<2x0xf32>
  %scale = ad.constant dense<1.0> : tensor<0xf32>
  %r = ad.layer_norm %x, %scale, %scale epsilon 1.0e-5 : tensor<2x0xf32>, tensor<0xf32>
  return %p, %q, %r : tensor<2x0xf32>, tensor<2x0xf32>, tensor<2x0xf32>
}
