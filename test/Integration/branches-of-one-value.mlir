// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner %s --target reference --arg x=arange --arg y=arange --dim y.0=3 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --arg x=arange --arg y=arange --dim y.0=3 --print | FileCheck %s

// A branch yields one value twice: it is in one of the buffers already, the other gets a copy.
// CHECK: a: tensor<4xf32> = [-3. -2. -1. {{ *-?}}0.]
// CHECK: b: tensor<4xf32> = [{{ *}}3. {{ *}}2. {{ *}}1. {{ *}}0.]
// CHECK: c: tensor<4xf32> = [{{ *}}3. {{ *}}2. {{ *}}1. {{ *}}0.]
func.func @main(%x: tensor<4xf32> {ad.name = "x"}, %y: tensor<?xf32> {ad.name = "y"})
    -> (tensor<4xf32> {ad.name = "a"}, tensor<4xf32> {ad.name = "b"}, tensor<4xf32> {ad.name = "c"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %size = tensor.dim %y, %c0 : tensor<?xf32>
  %many = arith.cmpi sgt, %size, %c4 : index
  %r:3 = scf.if %many -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %zero = ad.constant dense<0.0> : tensor<4xf32>
    %e = ad.exp %x : tensor<4xf32>
    scf.yield %zero, %zero, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } else {
    %reversed = ad.reverse %x axes [0] : tensor<4xf32>
    %less = ad.neg %reversed : tensor<4xf32>
    scf.yield %less, %reversed, %reversed : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
