// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-insert-trace --split-input-file --verify-diagnostics | FileCheck %s

// After each fusion, in loops too; all results of a fusion are sent together.
// CHECK-LABEL: @loop
// CHECK: scf.for
// CHECK:   %[[BOTH:.+]]:2 = ad.fusion
// CHECK:   ad.receive "ad.trace"(%[[BOTH]]#0, %[[BOTH]]#1) : tensor<4xf32>, tensor<f32>
// CHECK-NEXT: ad.receive "sum"(%[[BOTH]]#1)
// CHECK: %[[LAST:.+]] = ad.fusion
// CHECK: ad.receive "ad.trace"(%[[LAST]]) : tensor<4xf32>
func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %y:2 = ad.fusion reduce (%b = %a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
      %e = ad.exp %b : tensor<4xf32>
      %s = ad.reduce_sum %e axes [0] : tensor<4xf32> -> tensor<f32>
      ad.yield %e, %s : tensor<4xf32>, tensor<f32>
    }
    ad.receive "sum"(%y#1) : tensor<f32>
    scf.yield %y#0 : tensor<4xf32>
  }
  %z = ad.fusion elementwise (%b = %r) : (tensor<4xf32>) -> tensor<4xf32> {
    %e = ad.neg %b : tensor<4xf32>
    ad.yield %e : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}

// -----

func.func @reserved(%x: tensor<4xf32>) {
  // expected-error@+1 {{'ad.receive' op has the name 'ad.trace', which traces use; give it another name}}
  ad.receive "ad.trace"(%x) : tensor<4xf32>
  return
}
