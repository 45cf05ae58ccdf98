// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalars of 8-bit floats saturate, whether they are constants or not. Expected numbers follow from the largest numbers of
// the types: 448 and 57344.
//
// RUN: ad-runner %s --cache off --print --target reference | FileCheck %s
// RUN: ad-runner %s --cache off --print | FileCheck %s
// RUN: ad-runner %s --cache off --print -O0 | FileCheck %s
// RUN: ad-runner %s --cache off --print --target gpu-sim | FileCheck %s
// RUN: ad-runner %s --cache off --print --entry arithmetic --target reference | FileCheck %s --check-prefix=ARITHMETIC
// RUN: ad-runner %s --cache off --print --entry arithmetic | FileCheck %s --check-prefix=ARITHMETIC
// RUN: ad-runner %s --cache off --print --entry arithmetic --target gpu-sim | FileCheck %s --check-prefix=ARITHMETIC
// RUN: ad-runner %s --cache off --print --entry infinities --target reference | FileCheck %s --check-prefix=INFINITIES
// RUN: ad-runner %s --cache off --print --entry infinities | FileCheck %s --check-prefix=INFINITIES
// RUN: ad-runner %s --cache off --print --entry infinities --target gpu-sim | FileCheck %s --check-prefix=INFINITIES

// CHECK: res0: tensor<f8E4M3FN> = -448.
// CHECK: res1: tensor<f8E5M2> = -57344.
// CHECK: res2: tensor<f8E4M3FN> = 448.
// CHECK: res3: tensor<f8E4M3FN> = nan
// CHECK: res4: tensor<f16> = inf
func.func @main() -> (tensor<f8E4M3FN>, tensor<f8E5M2>, tensor<f8E4M3FN>, tensor<f8E4M3FN>, tensor<f16>) {
  %inf = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %big = arith.constant 1.0e30 : f32
  %a = arith.truncf %inf : f32 to f8E4M3FN
  %b = arith.truncf %inf : f32 to f8E5M2
  %c = arith.truncf %big : f32 to f8E4M3FN
  %d = arith.truncf %nan : f32 to f8E4M3FN
  %e = arith.truncf %big : f32 to f16
  %ta = ad.full %a : f8E4M3FN -> tensor<f8E4M3FN>
  %tb = ad.full %b : f8E5M2 -> tensor<f8E5M2>
  %tc = ad.full %c : f8E4M3FN -> tensor<f8E4M3FN>
  %td = ad.full %d : f8E4M3FN -> tensor<f8E4M3FN>
  %te = ad.full %e : f16 -> tensor<f16>
  return %ta, %tb, %tc, %td, %te : tensor<f8E4M3FN>, tensor<f8E5M2>, tensor<f8E4M3FN>, tensor<f8E4M3FN>, tensor<f16>
}

// ARITHMETIC: res0: tensor<f8E4M3FN> = 448.
// ARITHMETIC: res1: tensor<f8E4M3FN> = 448.
func.func @arithmetic() -> (tensor<f8E4M3FN>, tensor<f8E4M3FN>) {
  %x = arith.constant 448.0 : f8E4M3FN
  %y = arith.mulf %x, %x : f8E4M3FN
  %z = arith.constant 0.0 : f8E4M3FN
  %w = arith.divf %x, %z : f8E4M3FN
  %t = ad.full %y : f8E4M3FN -> tensor<f8E4M3FN>
  %u = ad.full %w : f8E4M3FN -> tensor<f8E4M3FN>
  return %t, %u : tensor<f8E4M3FN>, tensor<f8E4M3FN>
}

// An infinity saturates if an operation computes with it, x * 1 too, and stays where it is moved. An integer beyond the
// range saturates, too.
// INFINITIES: res0: tensor<f8E5M2> = 57344.
// INFINITIES: res1: tensor<f8E5M2> = -57344.
// INFINITIES: res2: tensor<f8E5M2> = inf
// INFINITIES: res3: tensor<f8E4M3FN> = 448.
func.func @infinities() -> (tensor<f8E5M2>, tensor<f8E5M2>, tensor<f8E5M2>, tensor<f8E4M3FN>) {
  %x0 = ad.constant dense<0x7C> : tensor<f8E5M2>
  %x1 = ad.barrier %x0 : tensor<f8E5M2>
  %x = tensor.extract %x1[] : tensor<f8E5M2>
  %one = arith.constant 1.0 : f8E5M2
  %true = arith.constant true
  %product = arith.mulf %x, %one : f8E5M2
  %negative = arith.negf %x : f8E5M2
  %moved = arith.select %true, %x, %one : f8E5M2
  %n = arith.constant 1000 : i32
  %number = arith.sitofp %n : i32 to f8E4M3FN
  %a = ad.full %product : f8E5M2 -> tensor<f8E5M2>
  %b = ad.full %negative : f8E5M2 -> tensor<f8E5M2>
  %c = ad.full %moved : f8E5M2 -> tensor<f8E5M2>
  %d = ad.full %number : f8E4M3FN -> tensor<f8E4M3FN>
  return %a, %b, %c, %d : tensor<f8E5M2>, tensor<f8E5M2>, tensor<f8E5M2>, tensor<f8E4M3FN>
}
