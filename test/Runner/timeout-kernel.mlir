// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A kernel that takes longer than the limit ends the process: the message names it with its location, and values received before are written.
// DEFINE: %{exits} = %python %S/Inputs/exits.py
// DEFINE: %{values} = --arg x=normal:1 --timeout-kernel 3

// RUN: %{exits} 5 ad-runner %s --target gpu-sim %{values} --out-dir %t.out 2>&1 | FileCheck %s
// CHECK: timeout-kernel.mlir:[[#@LINE+27]]:8: error: {{.*}}kernel 'dot_{{[0-9]+}}' has not ended after 3 seconds, the process ends
// CHECK-NEXT: %s = ad.dot
// RUN: %python -c "import numpy; print(numpy.load('%t.out/scale.npy').tolist())" | FileCheck %s --check-prefix=KEPT
// KEPT: {{^}}[2.0, 4.0, 8.0]{{$}}

// RUN: ad-runner %s --target gpu-sim --emit %t.adx
// RUN: %{exits} 5 adrt-run %t.adx %{values} 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: timeout-kernel.mlir:[[#@LINE+20]]:8: error: {{.*}}kernel 'dot_{{[0-9]+}}' has not ended after 3 seconds
// RUN: ad-runner %s --entry small --target gpu-sim --timeout-kernel 100 --print | FileCheck %s --check-prefix=SMALL
// SMALL: res0: tensor<f32> = 8.

// RUN: %{exits} 2 ad-runner %s --timeout-kernel 1 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: --timeout-kernel is about kernels on a GPU, target 'cpu' has none
// RUN: %{exits} 2 ad-runner %s --target gpu-sim --timeout-kernel -1 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: expected --timeout-kernel with a number of seconds from 1e-9 to 1e9, found '-1'

// The product takes minutes on the fastest host, so that every host reaches the limit; it depends on the result of the loop.
func.func @main(%x: tensor<2048x2048xf32> {ad.name = "x"}) -> tensor<2048x2048xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %start = ad.constant dense<1.0> : tensor<f32>
  %scale = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %start) -> tensor<f32> {
    %twice = ad.add %v, %v : tensor<f32>
    ad.receive "scale"(%twice) : tensor<f32>
    scf.yield %twice : tensor<f32>
  }
  %s = ad.dot %x, %x : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %y = ad.mul %s, %scale : tensor<2048x2048xf32>, tensor<f32>
  return %y : tensor<2048x2048xf32>
}

func.func @small() -> tensor<f32> {
  %ones = ad.constant dense<1.0> : tensor<8xf32>
  %sum = ad.reduce_sum %ones axes [0] : tensor<8xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
