// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner %s --target reference --arg x=arange --dim x.0=4 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --arg x=arange --dim x.0=4 --print | FileCheck %s

// Two carries begin with one value: one takes its place over, the other a copy.
// CHECK: a: tensor<4xf32> = [{{ *}}0. {{ *}}6. 12. 18.]
// CHECK: b: tensor<4xf32> = [{{ *}}-2. {{ *}}0. {{ *}}2. {{ *}}4.]
func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "a"}, tensor<?xf32> {ad.name = "b"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %two = ad.constant dense<2.0> : tensor<f32>
  %one = ad.constant dense<1.0> : tensor<f32>
  %start = ad.mul %x, %two : tensor<?xf32>, tensor<f32>
  %a, %b = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %start, %q = %start) -> (tensor<?xf32>, tensor<?xf32>) {
    %n = ad.add %p, %x : tensor<?xf32>, tensor<?xf32>
    %m = ad.sub %q, %one : tensor<?xf32>, tensor<f32>
    scf.yield %n, %m : tensor<?xf32>, tensor<?xf32>
  }
  %r = ad.add %a, %b : tensor<?xf32>, tensor<?xf32>
  %s = ad.sub %r, %b : tensor<?xf32>, tensor<?xf32>
  %t = ad.mul %s, %one : tensor<?xf32>, tensor<f32>
  %u = ad.add %t, %x : tensor<?xf32>, tensor<?xf32>
  %v = ad.add %u, %x : tensor<?xf32>, tensor<?xf32>
  return %v, %b : tensor<?xf32>, tensor<?xf32>
}
