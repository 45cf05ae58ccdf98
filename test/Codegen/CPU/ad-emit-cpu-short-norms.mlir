// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A norm of rows that are no longer than a vector computes one vector for each column. The loads of the columns use the
// same whole vectors and shuffle their elements out of them, also if rows are longer than the stride up to which other
// code shuffles; nothing is gathered.
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-emit-cpu | FileCheck %s

// CHECK-NOT: masked.gather
// CHECK: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK-NOT: masked.gather
func.func @main(%x: tensor<32x10xf32>) -> tensor<32x10xf32> {
  %y = ad.softmax %x axis 1 : tensor<32x10xf32>
  return %y : tensor<32x10xf32>
}
