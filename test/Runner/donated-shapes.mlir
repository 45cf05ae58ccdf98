// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A result in a donated argument has its own sizes, which a transposition gives in another order: its elements and its
// shape are those of the reference interpreter, whichever side of a condition wrote it.
// RUN: ad-runner %s --target reference --arg a=arange --dim a.0=2 --dim a.1=3 --dim a.2=5 --print > %t.reference
// RUN: ad-runner %s --target cpu --arg a=arange --dim a.0=2 --dim a.1=3 --dim a.2=5 --print | cmp - %t.reference
// RUN: ad-runner %s --target gpu-sim --arg a=arange --dim a.0=2 --dim a.1=3 --dim a.2=5 --print | cmp - %t.reference
// RUN: FileCheck %s < %t.reference
// CHECK: r: tensor<3x5x2xf32>
// RUN: ad-opt %s --ad-to-cpu --remarks-filter=ad-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix PLAN
// PLAN: donated
func.func @main(%a: tensor<?x?x?xf32> {ad.name = "a", ad.donated = 0}) -> (tensor<?x?x?xf32> {ad.name = "r"}) {
  %axis = arith.constant 0 : index
  %two = arith.constant 2 : index
  %size = tensor.dim %a, %axis : tensor<?x?x?xf32>
  %is = arith.cmpi eq, %size, %two : index
  %r = scf.if %is -> tensor<?x?x?xf32> {
    %turned = ad.transpose %a [1, 2, 0] : tensor<?x?x?xf32>
    scf.yield %turned : tensor<?x?x?xf32>
  } else {
    %turned = ad.transpose %a [1, 2, 0] : tensor<?x?x?xf32>
    %negated = ad.neg %turned : tensor<?x?x?xf32>
    scf.yield %negated : tensor<?x?x?xf32>
  }
  return %r : tensor<?x?x?xf32>
}
