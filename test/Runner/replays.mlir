// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Iterations that are replayed give the same values as iterations whose kernels are launched one by one, and as the reference interpreter. The
// emulated GPU replays a copy of the commands, with updated arguments and grids, under its checks.
// DEFINE: %{run} = ad-runner %s --print --arg x=normal:1 --numerics reproducible
// DEFINE: %{reports} = %python %S/Inputs/graphs.py %t.json

// RUN: %{run} --feed f=normal:2 --entry loops --target reference > %t.reference
// RUN: %{run} --feed f=normal:2 --entry loops --target gpu-sim --no-replay > %t.single
// RUN: %{run} --feed f=normal:2 --entry loops --target gpu-sim --repeat 2 > %t.replayed
// RUN: cmp %t.reference %t.single
// RUN: cmp %t.reference %t.replayed
// RUN: %{run} --entry grows --target reference > %t.reference
// RUN: %{run} --entry grows --target gpu-sim --no-replay > %t.single
// RUN: %{run} --entry grows --target gpu-sim > %t.replayed
// RUN: cmp %t.reference %t.single
// RUN: cmp %t.reference %t.replayed
// RUN: %{run} --entry decides --target reference > %t.reference
// RUN: %{run} --entry decides --target gpu-sim > %t.replayed
// RUN: cmp %t.reference %t.replayed

// The counts, of a file that was compiled without timed kernels: timed kernels are launched one by one.
// RUN: ad-runner %s --entry loops --target gpu-sim --emit %t.adx --numerics reproducible
// RUN: adrt-run %t.adx --arg x=normal:1 --feed f=normal:2 --report %t.json
// RUN: %{reports} instantiated=4 launched=22 updated=17
// RUN: adrt-run %t.adx --arg x=normal:1 --feed f=normal:2 --report %t.json --no-replay
// RUN: %{reports} instantiated=0 launched=0 updated=0
// RUN: ad-runner %s --entry grows --target gpu-sim --emit %t.adx --numerics reproducible
// RUN: adrt-run %t.adx --arg x=normal:1 --report %t.json
// RUN: %{reports} instantiated=2 launched=5 updated=6

// An error of the host in a later iteration has its location.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry leaves --target gpu-sim --arg x=normal:1 2>&1 | FileCheck %s --check-prefix=LEAVES
// LEAVES: replays.mlir:[[#@LINE+70]]:12: error: 'ad.dynamic_slice' op dimension 0: index 5 is outside of size 5

// Feeds, nested loops, the number of the iteration, and sent values.
func.func @loops(%x: tensor<5x70xf32> {ad.name = "x"}) -> tensor<70xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = ad.constant dense<0.0> : tensor<70xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %zero) -> tensor<70xf32> {
    %f = ad.feed "f" : tensor<70xf32>
    %inner = scf.for %j = %c0 to %c5 step %c1 iter_args(%w = %v) -> tensor<70xf32> {
      %row = ad.dynamic_slice %x[%j, %c0] : tensor<5x70xf32> -> tensor<1x70xf32>
      %flat = ad.reshape %row : tensor<1x70xf32> -> tensor<70xf32>
      %kept = ad.barrier %flat : tensor<70xf32>
      %n = ad.softmax %w axis 0 : tensor<70xf32>
      %s = ad.add %n, %kept : tensor<70xf32>
      scf.yield %s : tensor<70xf32>
    }
    %t = ad.mul %inner, %f : tensor<70xf32>
    %sum = ad.reduce_sum %t axes [0] : tensor<70xf32> -> tensor<f32>
    ad.receive "sum"(%sum) : tensor<f32>
    scf.yield %t : tensor<70xf32>
  }
  return %r : tensor<70xf32>
}

// Sizes that grow from iteration to iteration: other grids, and other addresses when the memory of a buffer is too small.
func.func @grows(%x: tensor<5x70xf32> {ad.name = "x"}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c900 = arith.constant 900 : index
  %zero = ad.constant dense<0.0> : tensor<f32>
  %r = scf.for %i = %c1 to %c7 step %c1 iter_args(%v = %zero) -> tensor<f32> {
    %n = arith.muli %i, %c900 : index
    %wide = ad.broadcast %v(%n) : tensor<f32> -> tensor<?xf32>
    %kept = ad.barrier %wide : tensor<?xf32>
    %e = ad.cos %kept : tensor<?xf32>
    %s = ad.reduce_sum %e axes [0] : tensor<?xf32> -> tensor<f32>
    %t = ad.sin %s : tensor<f32>
    scf.yield %t : tensor<f32>
  }
  return %r : tensor<f32>
}

// The host reads a value in each iteration.
func.func @decides(%x: tensor<5x70xf32> {ad.name = "x"}) -> tensor<5x70xf32> {
  %c0 = arith.constant 0 : index
  %small = arith.constant 0.1 : f32
  %r = scf.while (%v = %x) : (tensor<5x70xf32>) -> tensor<5x70xf32> {
    %s = ad.reduce_max %v axes [0, 1] : tensor<5x70xf32> -> tensor<f32>
    %e = tensor.extract %s[] : tensor<f32>
    %again = arith.cmpf ogt, %e, %small : f32
    scf.condition(%again) %v : tensor<5x70xf32>
  } do {
  ^bb0(%v: tensor<5x70xf32>):
    %t = ad.softmax %v axis 1 : tensor<5x70xf32>
    %kept = ad.barrier %t : tensor<5x70xf32>
    %n = ad.tanh %kept : tensor<5x70xf32>
    scf.yield %n : tensor<5x70xf32>
  }
  return %r : tensor<5x70xf32>
}

func.func @leaves(%x: tensor<5x70xf32> {ad.name = "x"}) -> tensor<1x70xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = ad.constant dense<0.0> : tensor<1x70xf32>
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%v = %zero) -> tensor<1x70xf32> {
    %row = ad.dynamic_slice %x[%i, %c0] : tensor<5x70xf32> -> tensor<1x70xf32>
    %kept = ad.barrier %row : tensor<1x70xf32>
    %s = ad.add %v, %kept : tensor<1x70xf32>
    scf.yield %s : tensor<1x70xf32>
  }
  return %r : tensor<1x70xf32>
}
