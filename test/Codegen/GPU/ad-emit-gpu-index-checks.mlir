// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The search for an index outside of a tensor is divided over the machine, as other reductions of one row are.
// RUN: ad-opt %s --ad-to-gpu-frontend=chip=sm_90a --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu | FileCheck %s

// CHECK-DAG: gpu.func @reduce_0$partial
// CHECK-DAG: gpu.func @reduce_0$merge
// CHECK-DAG: gpu.func @nest_0
func.func @main(%x: tensor<1000000xf32>, %i: tensor<1000x1000xi32>) -> tensor<1000x1000xf32> {
  %y = ad.take %x, %i axis 0 : tensor<1000000xf32>, tensor<1000x1000xi32>
  return %y : tensor<1000x1000xf32>
}
