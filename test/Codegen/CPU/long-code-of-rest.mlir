// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Of a row of open length, long code for the lanes after the last full set is there for the first register and in a
// loop over the others; short code is there for each register.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-emit-cpu=vector-bytes=64 | FileCheck %s

// CHECK-LABEL: func.func private @reduce_0(
// CHECK: tanh {{.*}} : vector<64xf32>
// CHECK: scf.if
// CHECK: tanh {{.*}} : vector<16xf32>
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c16 to
// CHECK: tanh {{.*}} : vector<16xf32>
// CHECK-NOT: ad.elementary
// CHECK: func.func private @reduce_0$nanoseconds
func.func @long(%x: tensor<4x?xf32>) -> tensor<4xf32> {
  %0 = ad.exp %x : tensor<4x?xf32>
  %1 = ad.tanh %0 : tensor<4x?xf32>
  %2 = ad.reduce_sum %1 axes [1] : tensor<4x?xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func private @reduce_0(
// CHECK: exp {{.*}} : vector<64xf32>
// CHECK-COUNT-4: exp {{.*}} : vector<16xf32>
// CHECK-NOT: ad.elementary
// CHECK: func.func private @reduce_0$nanoseconds
func.func @short(%x: tensor<4x?xf32>) -> tensor<4xf32> {
  %0 = ad.exp %x : tensor<4x?xf32>
  %1 = ad.reduce_sum %0 axes [1] : tensor<4x?xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
