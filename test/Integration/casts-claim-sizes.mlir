// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A cast to a size that only run time knows is checked there, also where simplification has moved it into a loop.
// RUN: not ad-runner %s --entry claim --target reference --arg x=arange --dim x.0=3 2>&1 | FileCheck %s --check-prefix=CLAIM
// RUN: not ad-runner %s --entry claim --target cpu --arg x=arange --dim x.0=3 2>&1 | FileCheck %s --check-prefix=CLAIM
// RUN: not ad-runner %s --entry claim --target gpu-sim --arg x=arange --dim x.0=6000 2>&1 | FileCheck %s --check-prefix=LONG
// CLAIM: casts-claim-sizes.mlir:[[#@LINE+16]]:8: error: 'tensor.cast' op dimension 0 must have size 5, but has 3
// LONG: casts-claim-sizes.mlir:[[#@LINE+15]]:8: error: 'tensor.cast' op dimension 0 must have size 5, but has 6000

// RUN: not ad-runner %s --entry carry --target reference --arg x=arange --dim x.0=3 --arg y=arange 2>&1 | FileCheck %s --check-prefix=CARRY
// CARRY: casts-claim-sizes.mlir:[[#@LINE+22]]:10: error: 'scf.for' op loop carry 0: dimension 0 changes from size 5 to 3
// RUN: not ad-runner %s --entry carry --target cpu --arg x=arange --dim x.0=60000 --arg y=arange 2>&1 | FileCheck %s --check-prefix=MOVED
// RUN: not ad-runner %s --entry carry --target gpu-sim --arg x=arange --dim x.0=60000 --arg y=arange 2>&1 | FileCheck %s --check-prefix=MOVED
// MOVED: casts-claim-sizes.mlir:[[#@LINE+19]]:10: error: 'tensor.cast' op dimension 0 must have size 5, but has 60000

// RUN: ad-runner %s --entry carry --target reference --arg x=arange --dim x.0=5 --arg y=arange --print > %t.expected
// RUN: ad-runner %s --entry carry --target cpu --arg x=arange --dim x.0=5 --arg y=arange --print > %t.cpu
// RUN: ad-runner %s --entry carry --target gpu-sim --arg x=arange --dim x.0=5 --arg y=arange --print > %t.sim
// RUN: cmp %t.expected %t.cpu
// RUN: cmp %t.expected %t.sim

func.func @claim(%x: tensor<?xf32> {ad.name = "x"}) -> tensor<5xf32> {
  %c = tensor.cast %x : tensor<?xf32> to tensor<5xf32>
  %y = ad.exp %c : tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @carry(%x: tensor<?xf32> {ad.name = "x"}, %y: tensor<5xf32> {ad.name = "y"}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %start = tensor.cast %y : tensor<5xf32> to tensor<?xf32>
  %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%carried = %start) -> tensor<?xf32> {
    %next = ad.sin %x : tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  return %end : tensor<?xf32>
}
