// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Divided reductions of functions whose code has branches: several loads are in flight before the first function.
//
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu | FileCheck %s

// Of a column, as many elements as its chain is unrolled by, also where two tensors are read.
// CHECK-LABEL: gpu.func @reduce_0$partial
// CHECK: scf.for {{.+}} step %c32
// CHECK-COUNT-64: llvm.load
// CHECK-NOT: llvm.load
// CHECK: ad.elementary  exp
func.func @columns(%x: tensor<90000x40xf32>, %z: tensor<90000x40xf32>) -> tensor<40xf32> {
  %e = ad.exp %x : tensor<90000x40xf32>
  %p = ad.mul %e, %z : tensor<90000x40xf32>
  %y = ad.reduce_sum %p axes [0] : tensor<90000x40xf32> -> tensor<40xf32>
  return %y : tensor<40xf32>
}
