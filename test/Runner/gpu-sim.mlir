// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The emulated GPU as a target: the same output as on the CPU, with feeds, received values, donated arguments and repetitions; times of
// kernels; errors with their location; programs from the cache.
// DEFINE: %{run} = ad-runner %s --arg x=arange --dim x.0=3 --arg p=zeros --feed f=arange

// RUN: %{run} --print --target cpu --numerics reproducible > %t.cpu
// RUN: %{run} --print --target gpu-sim --numerics reproducible > %t.sim
// RUN: cmp %t.cpu %t.sim
// RUN: %{run} --print --target gpu-sim --numerics reproducible --repeat 3 --threads 2 > %t.again
// RUN: cmp %t.cpu %t.again
// RUN: %{run} --print --target gpu-sim -O0 --fuse single > %t.written
// RUN: cmp %t.cpu %t.written
// RUN: FileCheck %s --input-file=%t.sim
// CHECK: last

// Any order of threads and copies gives the same results.
// RUN: %{run} --print --target gpu-sim --schedule lazy > %t.lazy
// RUN: cmp %t.cpu %t.lazy
// RUN: %{run} --print --target gpu-sim --schedule shuffled --seed 7 > %t.shuffled
// RUN: cmp %t.cpu %t.shuffled
// RUN: %{run} --print --target gpu-sim --no-race-detection --threads 2 > %t.parallel
// RUN: cmp %t.cpu %t.parallel
// RUN: ad-runner %s --target gpu-sim --emit %t.adx
// RUN: adrt-run %t.adx --arg x=arange --dim x.0=3 --arg p=zeros --feed f=arange --print --schedule shuffled --seed 8 > %t.file
// RUN: cmp %t.cpu %t.file

// RUN: %{run} --target gpu-sim --report %t.json
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// REPORT: "cache": "miss"
// REPORT: "calls": 4,
// REPORT: "target": "gpu-sim"
// RUN: %{run} --target gpu-sim --report %t.json
// RUN: FileCheck %s --check-prefix=HIT --input-file=%t.json
// HIT: "cache": "hit"

// RUN: ad-runner %s --entry smooth --target gpu-sim --arg x=normal:1 --traffic --report %t.json | FileCheck %s --check-prefix=TRAFFIC
// TRAFFIC-NOT: 0 launches
// TRAFFIC: kernel reduce_0 (row): 1 launches
// TRAFFIC: llvm.store: 3 requests of global memory, 3 sectors, 1.00 of the fewest
// RUN: FileCheck %s --check-prefix=COUNTED --input-file=%t.json
// COUNTED: "traffic": [
// COUNTED: "class": "row"

// RUN: not ad-runner %s --entry wrong --target gpu-sim --arg x=arange --dim x.0=3 --arg y=arange --dim y.0=2 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: gpu-sim.mlir:[[#@LINE+19]]:8: error: 'ad.add' op broadcast: dimension 0 has sizes 3 and 2, neither is 1
// RUN: %python %S/Inputs/exits.py 3 ad-runner %s --entry checked --target gpu-sim --arg x=arange 2>&1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: error: 'check.expect_finite' op {{.*}}expected a finite value
// RUN: ad-runner %s --entry smooth --target gpu-sim --check-gradients --arg x=normal:1

func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %p: tensor<4xf32> {ad.name = "p", ad.donated = 0}) -> (tensor<4xf32> {ad.name = "p"}, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %p) -> tensor<4xf32> {
    %f = ad.feed "f" : tensor<4xf32>
    %n = ad.add %v, %f : tensor<4xf32>
    ad.receive "last"(%n) : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %r, %x : tensor<4xf32>, tensor<?xf32>
}

func.func @wrong(%x: tensor<?xf32> {ad.name = "x"}, %y: tensor<?xf32> {ad.name = "y"}) -> tensor<?xf32> {
  %z = ad.add %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}

func.func @checked(%x: tensor<4xf32> {ad.name = "x"}) {
  %l = ad.log %x : tensor<4xf32>
  check.expect_finite(%l) : tensor<4xf32>
  return
}

func.func @smooth(%x: tensor<3x70xf32> {ad.name = "x"}) -> tensor<f32> {
  %s = ad.softmax %x axis 1 : tensor<3x70xf32>
  %t = ad.tanh %s : tensor<3x70xf32>
  %y = ad.reduce_sum %t axes [0, 1] : tensor<3x70xf32> -> tensor<f32>
  return %y : tensor<f32>
}
