// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Every run of --repeat and --warmup starts from the same arguments, also from a donated one that a loop updates, and from
// the first value of each feed; RepeatTest.cpp does it with a program that overwrites its argument.
// RUN: ad-runner %s --arg w=arange --feed x=arange --out-dir %t.once
// RUN: ad-runner %s --arg w=arange --feed x=arange --out-dir %t.cpu --repeat 3 --warmup 2
// RUN: ad-runner %s --arg w=arange --feed x=arange --out-dir %t.reference --repeat 3 --target reference
// RUN: cmp %t.once/w.npy %t.cpu/w.npy
// RUN: cmp %t.once/w.npy %t.reference/w.npy
// RUN: %python %S/Inputs/npy.py show %t.cpu/w.npy | FileCheck %s
// CHECK: <f4 (2,) [2.0, 5.0]
func.func @main(%w: tensor<2xf32> {ad.name = "w", ad.donated = 0}) -> (tensor<2xf32> {ad.name = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %w) -> tensor<2xf32> {
    %x = ad.feed "x" : tensor<2xf32>
    %y = ad.add %v, %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
