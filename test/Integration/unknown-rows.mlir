// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Norms of rows whose number only the run knows, one row and none among them.
//
// RUN: ad-runner %s --target reference --numerics reproducible --arg x=normal:1 --dim x.0=5
// RUN: ad-runner %s --target cpu --numerics reproducible --arg x=normal:1 --dim x.0=5
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --arg x=normal:1 --dim x.0=5
// RUN: ad-runner %s --target reference --numerics reproducible --arg x=normal:2 --dim x.0=1
// RUN: ad-runner %s --target reference --numerics reproducible --arg x=normal:3 --dim x.0=0

func.func @main(%x: tensor<?x40xf32> {ad.name = "x"}) -> (tensor<?x40xf32> {ad.name = "y"}, tensor<?x40xf32> {ad.name = "z"}) {
  %scale = ad.constant dense<1.5> : tensor<40xf32>
  %shift = ad.constant dense<0.25> : tensor<40xf32>
  %y = ad.layer_norm %x, %scale, %shift epsilon 1.0e-5 : tensor<?x40xf32>, tensor<40xf32>
  %p = ad.softmax %y axis 1 : tensor<?x40xf32>
  %z = ad.add %p, %x : tensor<?x40xf32>, tensor<?x40xf32>
  %one = ad.reduce_sum %p axes [1] : tensor<?x40xf32> -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x40xf32>
  %1 = ad.constant dense<1.0> : tensor<f32>
  %ones = ad.broadcast %1(%rows) : tensor<f32> -> tensor<?xf32>
  check.expect_almost_eq(%one, %ones) {tolerance = 1.0e-5 : f64} : tensor<?xf32>
  return %y, %z : tensor<?x40xf32>, tensor<?x40xf32>
}
