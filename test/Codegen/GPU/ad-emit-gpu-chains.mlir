// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of one thread over neighbours in memory, whose blocks are too short for runs in shared memory: they are loaded as
// vectors.
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu | FileCheck %s

// 64 steps at once are sixteen vectors of four; the rest of a leaf is loaded one by one.
// CHECK-LABEL: gpu.func @reduce_0$partial
// CHECK: scf.for %{{.+}} step %c64{{.*}} -> (f32)
// CHECK-COUNT-16: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: scf.yield
// CHECK: scf.for %{{.+}} step %c1{{.*}} -> (f32)
// CHECK-NEXT: arith.constant
// CHECK: llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: gpu.return
func.func @neighbours(%x: tensor<1500x1xf32>) -> tensor<1xf32> {
  %y = ad.reduce_sum %x axes [0] {order = #ad.order<block = 32>} : tensor<1500x1xf32> -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// Leaves of six begin at every second element.
// CHECK-LABEL: gpu.func @reduce_0$partial
// CHECK: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr -> vector<2xf32>
// CHECK-NOT: vector<4xf32>
// CHECK: gpu.return
func.func @leaves_of_six(%x: tensor<1500x1xf32>) -> tensor<1xf32> {
  %y = ad.reduce_sum %x axes [0] {order = #ad.order<block = 6>} : tensor<1500x1xf32> -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// A row of open size may begin anywhere, the only row begins with the tensor.
// CHECK-LABEL: gpu.func @reduce_0$partial
// CHECK-NOT: vector<
// CHECK: gpu.return
func.func @open_rows(%x: tensor<2x?x1xf32>) -> tensor<2x1xf32> {
  %y = ad.reduce_sum %x axes [1] {order = #ad.order<block = 32>} : tensor<2x?x1xf32> -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// -----

// CHECK-LABEL: gpu.func @reduce_0$partial
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> vector<4xf32>
// CHECK: gpu.return
func.func @open_row(%x: tensor<1x?x1xf32>) -> tensor<1x1xf32> {
  %y = ad.reduce_sum %x axes [1] {order = #ad.order<block = 32>} : tensor<1x?x1xf32> -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// -----

// Registers for two operands of f64 are four times those for one of f32.
// CHECK-LABEL: gpu.func @reduce_0$partial
// CHECK: scf.for %{{.+}} step %c16{{.*}} -> (f64)
// CHECK-COUNT-16: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<2xf64>
// CHECK: gpu.return
func.func @two_operands(%x: tensor<1500x1xf64>, %w: tensor<1500x1xf64>) -> tensor<1xf64> {
  %p = ad.mul %x, %w : tensor<1500x1xf64>
  %y = ad.reduce_sum %p axes [0] {order = #ad.order<block = 32>} : tensor<1500x1xf64> -> tensor<1xf64>
  return %y : tensor<1xf64>
}
