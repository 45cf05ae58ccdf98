// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s --arg p=zeros --print | FileCheck %s
// RUN: ad-runner --target cpu %s --arg p=zeros --print | FileCheck %s
// RUN: ad-runner --target cpu -O0 %s --arg p=zeros --print | FileCheck %s

// CSE joins duplicates (simplify-cse.mlir), but two updates of one donated parameter that look alike both happen,
// in a row and in a loop.
// CHECK: p: tensor<f32> = 2.{{$}}
// CHECK: looped: tensor<f32> = 20.{{$}}
// CHECK: doubled: tensor<f32> = 4.{{$}}
func.func @main(%p: tensor<f32> {ad.donated = 0, ad.name = "p"})
    -> (tensor<f32> {ad.name = "p"}, tensor<f32> {ad.name = "looped"}, tensor<f32> {ad.name = "doubled"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 10 : index
  %one = ad.constant dense<1.0> : tensor<f32>
  %g = ad.barrier %one : tensor<f32>
  %q = ad.add %p, %g : tensor<f32>
  %r = ad.add %q, %g : tensor<f32>
  %looped = scf.for %i = %c0 to %steps step %c1 iter_args(%v = %p) -> tensor<f32> {
    %a = ad.add %v, %g : tensor<f32>
    %b = ad.add %a, %g : tensor<f32>
    scf.yield %b : tensor<f32>
  }
  // Duplicates: (p + 1 + 1) of one pair and of another.
  %s = ad.add %p, %g : tensor<f32>
  %t = ad.add %s, %g : tensor<f32>
  %doubled = ad.add %r, %t : tensor<f32>
  return %r, %looped, %doubled : tensor<f32>, tensor<f32>, tensor<f32>
}
