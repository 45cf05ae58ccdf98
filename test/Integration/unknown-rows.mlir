// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Norms of rows whose number is dynamic, one row and none among them.
//
// RUN: ad-runner %s --target reference --numerics reproducible --arg x=normal:1 --dim x.0=5 --out-dir %t.reference5
// RUN: ad-runner %s --target cpu --numerics reproducible --arg x=normal:1 --dim x.0=5 --out-dir %t.cpu5
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --arg x=normal:1 --dim x.0=5 --out-dir %t.gpu5
// RUN: cmp %t.reference5/y.npy %t.cpu5/y.npy
// RUN: cmp %t.reference5/z.npy %t.cpu5/z.npy
// RUN: cmp %t.reference5/y.npy %t.gpu5/y.npy
// RUN: cmp %t.reference5/z.npy %t.gpu5/z.npy
// RUN: ad-runner %s --target reference --numerics reproducible --arg x=normal:2 --dim x.0=1 --out-dir %t.reference1
// RUN: ad-runner %s --target cpu --numerics reproducible --arg x=normal:2 --dim x.0=1 --out-dir %t.cpu1
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --arg x=normal:2 --dim x.0=1 --out-dir %t.gpu1
// RUN: cmp %t.reference1/y.npy %t.cpu1/y.npy
// RUN: cmp %t.reference1/z.npy %t.cpu1/z.npy
// RUN: cmp %t.reference1/y.npy %t.gpu1/y.npy
// RUN: cmp %t.reference1/z.npy %t.gpu1/z.npy
// RUN: ad-runner %s --target reference --numerics reproducible --arg x=normal:3 --dim x.0=0 --out-dir %t.reference0
// RUN: ad-runner %s --target cpu --numerics reproducible --arg x=normal:3 --dim x.0=0 --out-dir %t.cpu0
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --arg x=normal:3 --dim x.0=0 --out-dir %t.gpu0
// RUN: cmp %t.reference0/y.npy %t.cpu0/y.npy
// RUN: cmp %t.reference0/z.npy %t.cpu0/z.npy
// RUN: cmp %t.reference0/y.npy %t.gpu0/y.npy
// RUN: cmp %t.reference0/z.npy %t.gpu0/z.npy

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
  // The norm has the mean of the shift and the variance of the scale, but for epsilon.
  %mean = ad.reduce_mean %y axes [1] : tensor<?x40xf32> -> tensor<?xf32>
  %2 = ad.constant dense<0.25> : tensor<f32>
  %means = ad.broadcast %2(%rows) : tensor<f32> -> tensor<?xf32>
  check.expect_almost_eq(%mean, %means) {tolerance = 1.0e-6 : f64} : tensor<?xf32>
  %centred = ad.sub %y, %shift : tensor<?x40xf32>, tensor<40xf32>
  %squares = ad.mul %centred, %centred : tensor<?x40xf32>
  %variance = ad.reduce_mean %squares axes [1] : tensor<?x40xf32> -> tensor<?xf32>
  %3 = ad.constant dense<2.25> : tensor<f32>
  %variances = ad.broadcast %3(%rows) : tensor<f32> -> tensor<?xf32>
  check.expect_almost_eq(%variance, %variances) {tolerance = 1.0e-4 : f64} : tensor<?xf32>
  check.expect_almost_eq(%one, %ones) {tolerance = 1.0e-5 : f64} : tensor<?xf32>
  return %y, %z : tensor<?x40xf32>, tensor<?x40xf32>
}
