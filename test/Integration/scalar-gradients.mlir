// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner %s --target reference --arg x=arange
// RUN: ad-runner %s --target cpu --arg x=arange
// RUN: ad-runner %s --target gpu-sim --arg x=arange
// RUN: ad-opt %s --canonicalize -o %t.mlir
// RUN: ad-runner %t.mlir --target reference --arg x=arange
// RUN: ad-runner %t.mlir --target cpu --arg x=arange

// The square of x where the condition holds, else of 3: the gradient is 2x or 0, by a choice and by a branch.
func.func private @choice(%x: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  %b = tensor.extract %c[] : tensor<i1>
  %s = tensor.extract %x[] : tensor<f32>
  %k = arith.constant 3.0 : f32
  %q = arith.select %b, %s, %k : f32
  %y = ad.full %q : f32 -> tensor<f32>
  %z = ad.mul %y, %y : tensor<f32>
  return %z : tensor<f32>
}
func.func private @branch(%x: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  %b = tensor.extract %c[] : tensor<i1>
  %s = tensor.extract %x[] : tensor<f32>
  %k = arith.constant 3.0 : f32
  %q = scf.if %b -> f32 {
    scf.yield %s : f32
  } else {
    scf.yield %k : f32
  }
  %y = ad.full %q : f32 -> tensor<f32>
  %z = ad.mul %y, %y : tensor<f32>
  return %z : tensor<f32>
}
func.func @main(%x: tensor<2xf32> {ad.name = "x"}) -> tensor<f32> {
  %ones = ad.constant dense<1.0> : tensor<2xf32>
  %moved = ad.add %x, %ones : tensor<2xf32>
  %a = ad.reduce_prod %moved axes [0] : tensor<2xf32> -> tensor<f32>
  %zero = ad.constant dense<0.0> : tensor<f32>
  %two_a = ad.add %a, %a : tensor<f32>
  %true = ad.constant dense<true> : tensor<i1>
  %yes = ad.barrier %true : tensor<i1>
  %no = ad.not %yes : tensor<i1>
  %v0, %g0 = ad.value_and_grad @choice(%a, %yes) wrt [0] : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
  check.expect_eq(%g0, %two_a) : tensor<f32>
  %v1, %g1 = ad.value_and_grad @choice(%a, %no) wrt [0] : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
  check.expect_eq(%g1, %zero) : tensor<f32>
  %v2, %g2 = ad.value_and_grad @branch(%a, %yes) wrt [0] : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
  check.expect_eq(%g2, %two_a) : tensor<f32>
  %v3, %g3 = ad.value_and_grad @branch(%a, %no) wrt [0] : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
  check.expect_eq(%g3, %zero) : tensor<f32>
  return %g0 : tensor<f32>
}
