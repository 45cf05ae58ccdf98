// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=strict --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu=chip=sm_90a | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=strict --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu=chip=sm_80 | FileCheck %s --check-prefix=COPIES

// On sm_90a TMA loads the K tiles of mma.sync: a box for each operand, an N-major one in slabs of 64 columns.
// CHECK: func.func private @dot_0({{.*}}) attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 2048, dynamic_shared_bytes = 196672, tensor_maps = [<operand = 0, box = 128x64, swizzle = 128>, <operand = 1, box = 64x64, swizzle = 128>]>}
// CHECK: gpu.func @dot_0({{.*}}%[[LEFT:[^ ,]+]]: !llvm.ptr, %[[RIGHT:[^ ,]+]]: !llvm.ptr) kernel

// Each stage has a mbarrier of one arrival and of the bytes, and one of all warps.
// CHECK: nvvm.prefetch tensormap in_param_space, %[[LEFT]]
// CHECK: nvvm.prefetch tensormap in_param_space, %[[RIGHT]]
// CHECK-COUNT-8: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: gpu.barrier

// Three K tiles are loaded before the first is multiplied, each by another thread: A, and four slabs of B.
// CHECK: scf.for
// CHECK-COUNT-15: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: scf.for {{.*}} iter_args
// CHECK: nvvm.mbarrier.try_wait
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// No barrier joins the warps in the loop: each releases the stage.
// CHECK-NOT: gpu.barrier
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.mbarrier.arrive
// CHECK-NOT: gpu.barrier
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global

// The epilogue writes all accumulators over the stages, and a fence lets TMA write there again.
// CHECK: gpu.barrier
// CHECK: llvm.store
// CHECK: gpu.barrier
// CHECK: nvvm.fence.proxy
// CHECK-NEXT: gpu.barrier

// COPIES-LABEL: gpu.func @dot_0
// COPIES-NOT: tensor_map
// COPIES: nvvm.cp.async.shared.global
// COPIES: nvvm.mma.sync
func.func @large(%a: tensor<8192x1024xbf16>, %b: tensor<1024x8192xbf16>) -> tensor<8192x8192xbf16> {
  %0 = ad.dot %a, %b : (tensor<8192x1024xbf16>, tensor<1024x8192xbf16>) -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

// Rows that are no multiples of 16 bytes have no tensor map.
// CHECK-LABEL: func.func @odd
// CHECK-NOT: cp.async.bulk
// CHECK: nvvm.mma.sync
func.func @odd(%a: tensor<512x1001xbf16>, %b: tensor<1001x512xbf16>) -> tensor<512x512xbf16> {
  %0 = ad.dot %a, %b : (tensor<512x1001xbf16>, tensor<1001x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// -----

// The fusion's operands of four rows are loaded before the first of them is computed.
// CHECK-LABEL: func.func @residual
// CHECK: nvvm.mma.sync
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr -> vector<8xi16>
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: : !llvm.ptr -> vector<8xi16>
// CHECK: nvvm.fence.proxy
func.func @residual(%a: tensor<4096x512xbf16>, %b: tensor<512x1024xbf16>, %c: tensor<4096x1024xbf16>) -> tensor<4096x1024xbf16> {
  %0 = ad.dot %a, %b : (tensor<4096x512xbf16>, tensor<512x1024xbf16>) -> tensor<4096x1024xbf16>
  %1 = ad.add %0, %c : tensor<4096x1024xbf16>
  return %1 : tensor<4096x1024xbf16>
}
