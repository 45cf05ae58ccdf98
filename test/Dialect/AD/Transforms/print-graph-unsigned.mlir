// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-print-graph -o /dev/null | FileCheck %s
// RUN: ad-opt %s --ad-print-graph=form=recorded -o /dev/null | FileCheck %s --check-prefix=RECORDED

// The comparison without a sign decides how many iterations there are, so that the text names it.
// CHECK: scf.for unsigned 3 to -1 step 2
// RECORDED: For unsigned 3 to -1 step 2:
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %lower = arith.constant 3 : i8
  %upper = arith.constant -1 : i8
  %step = arith.constant 2 : i8
  %y = scf.for unsigned %i = %lower to %upper step %step iter_args(%a = %x) -> tensor<4xf32> : i8 {
    %b = ad.exp %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
