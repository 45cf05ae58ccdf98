// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A loop carries f32 parameters and their 16-bit copy, whose sizes only run time knows. Both have the same sizes, so
// that all of its operations are compiled, and all targets give the same bits.
// RUN: ad-runner %s --target reference --numerics reproducible --precision bf16 --arg a=normal:1:0.1 --dim a.0=3 --dim a.1=3 --print > %t.expected
// RUN: ad-runner %s --target cpu --numerics reproducible --precision bf16 --arg a=normal:1:0.1 --dim a.0=3 --dim a.1=3 --print > %t.cpu
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --precision bf16 --arg a=normal:1:0.1 --dim a.0=3 --dim a.1=3 --print > %t.sim
// RUN: cmp %t.expected %t.cpu
// RUN: cmp %t.expected %t.sim
// RUN: ad-opt %s '--ad-to-cpu-frontend=precision=f16' | FileCheck %s
// CHECK: scf.for {{.*}} -> (tensor<?x?xf32>, tensor<?x?xf16>)
func.func private @loss(%a: tensor<?x?xf32>) -> tensor<f32> {
  %0 = ad.dot %a, %a contract [1] x [1] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = ad.silu %0 : tensor<?x?xf32>
  %2 = ad.reduce_sum %1 axes [0, 1] : tensor<?x?xf32> -> tensor<f32>
  return %2 : tensor<f32>
}

func.func @main(%a: tensor<?x?xf32> {ad.name = "a"}) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %a) -> (tensor<?x?xf32>) {
    %l:2 = ad.value_and_grad @loss(%p) wrt [0] : (tensor<?x?xf32>) -> (tensor<f32>, tensor<?x?xf32>)
    %q = ad.sub %p, %l#1 : tensor<?x?xf32>
    scf.yield %q : tensor<?x?xf32>
  }
  %y = ad.sub %z, %a : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
