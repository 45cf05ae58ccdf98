// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A program whose output cannot be written stops.
// RUN: %python %S/Inputs/exits.py 2 timeout 100 ad-runner %s --cache=off --arg x=normal:1 --print > /dev/full 2> %t.txt
// RUN: FileCheck %s < %t.txt
// CHECK: error: 'ad.receive' op receive 'z': cannot write the output: No space left on device
func.func @main(%x: tensor<3xf32> {ad.name = "x"}) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant 1000000000000 : index
  %last = scf.for %i = %c0 to %count step %c1 iter_args(%y = %x) -> (tensor<3xf32>) {
    %z = ad.neg %y : tensor<3xf32>
    ad.receive "z"(%z) : tensor<3xf32>
    scf.yield %z : tensor<3xf32>
  }
  return %last : tensor<3xf32>
}
