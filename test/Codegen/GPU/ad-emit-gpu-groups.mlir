// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Functions of neighbouring elements are one operation on a vector, which has one branch for rare arguments.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu | FileCheck %s

// What the later functions read is loaded before the first one.
// CHECK-LABEL: gpu.func @elementwise_0
// CHECK: llvm.load
// CHECK-NOT: ad.elementary
// CHECK: ad.elementary exp %{{.+}} : vector<4xf32>
// CHECK-NOT: ad.elementary
// CHECK: llvm.store
// CHECK-NOT: ad.elementary
// CHECK: gpu.return
func.func @neighbours(%x: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %0 = ad.exp %x : tensor<1024x64xf32>
  return %0 : tensor<1024x64xf32>
}

// -----

// A function of another one's result is in another vector.
// CHECK-LABEL: gpu.func @elementwise_0
// CHECK: %[[FIRST:.+]] = ad.elementary exp %{{.+}} : vector<4xf32>
// CHECK: llvm.extractelement %[[FIRST]]
// CHECK: ad.elementary exp %{{.+}} : vector<4xf32>
// CHECK-NOT: ad.elementary
// CHECK: gpu.return
func.func @chain(%x: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %0 = ad.exp %x : tensor<1024x64xf32>
  %1 = ad.exp %0 : tensor<1024x64xf32>
  return %1 : tensor<1024x64xf32>
}

// -----

// f64 needs two registers for each value: its functions stay alone.
// CHECK-LABEL: gpu.func @elementwise_0
// CHECK: ad.elementary exp %{{.+}} : f64
// CHECK-NOT: ad.elementary {{.+}} : vector
// CHECK: gpu.return
func.func @doubles(%x: tensor<1024x64xf64>) -> tensor<1024x64xf64> {
  %0 = ad.exp %x : tensor<1024x64xf64>
  return %0 : tensor<1024x64xf64>
}
