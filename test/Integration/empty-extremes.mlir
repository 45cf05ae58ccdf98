// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner %s --target reference --arg x=zeros --dim x.0=0 --print | FileCheck %s --check-prefix=EMPTY
// RUN: ad-runner %s --target cpu --arg x=zeros --dim x.0=0 --print | FileCheck %s --check-prefix=EMPTY
// RUN: ad-runner %s --target reference --arg x=arange --dim x.0=3 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --arg x=arange --dim x.0=3 --print | FileCheck %s

// The maximum of a dynamic axis that is empty has an empty gradient; else it goes to the first extremum.
// EMPTY: max: tensor<f32> = -inf
// EMPTY-NEXT: d_max: tensor<0xf32> = []
// EMPTY-NEXT: min: tensor<f32> = inf
// EMPTY-NEXT: d_min: tensor<0xf32> = []
// EMPTY-NEXT: d_known: tensor<0x0xf32> =
// CHECK: max: tensor<f32> = 2.
// CHECK-NEXT: d_max: tensor<3xf32> = [0. 0. 1.]
// CHECK-NEXT: min: tensor<f32> = 0.
// CHECK-NEXT: d_min: tensor<3xf32> = [1. 0. 0.]
// CHECK-NEXT: d_known: tensor<0x3xf32> =
func.func private @largest(%x: tensor<?xf32>) -> tensor<f32> {
  %m = ad.reduce_max %x axes [0] : tensor<?xf32> -> tensor<f32>
  return %m : tensor<f32>
}
func.func private @smallest(%x: tensor<?xf32>) -> tensor<f32> {
  %m = ad.reduce_min %x axes [0] : tensor<?xf32> -> tensor<f32>
  return %m : tensor<f32>
}
func.func private @known(%x: tensor<0x?xf32>) -> tensor<f32> {
  %m = ad.reduce_max %x axes [0] : tensor<0x?xf32> -> tensor<?xf32>
  %s = ad.reduce_sum %m axes [0] : tensor<?xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @main(%x: tensor<?xf32> {ad.name = "x"})
    -> (tensor<f32> {ad.name = "max"}, tensor<?xf32> {ad.name = "d_max"}, tensor<f32> {ad.name = "min"}, tensor<?xf32> {ad.name = "d_min"},
        tensor<0x?xf32> {ad.name = "d_known"}) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %zero = ad.constant dense<0.0> : tensor<f32>
  %none = ad.broadcast %zero(%size) : tensor<f32> -> tensor<0x?xf32>
  %k, %dk = ad.value_and_grad @known(%none) wrt [0] : (tensor<0x?xf32>) -> (tensor<f32>, tensor<0x?xf32>)
  %a, %da = ad.value_and_grad @largest(%x) wrt [0] : (tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>)
  %b, %db = ad.value_and_grad @smallest(%x) wrt [0] : (tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>)
  return %a, %da, %b, %db, %dk : tensor<f32>, tensor<?xf32>, tensor<f32>, tensor<?xf32>, tensor<0x?xf32>
}
