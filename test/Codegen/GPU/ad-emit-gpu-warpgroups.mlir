// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=fast --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu=chip=sm_90a --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=fast --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu=chip=sm_90 | FileCheck %s --check-prefix=OTHER
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=strict --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu=chip=sm_90a | FileCheck %s --check-prefix=STRICT

// wgmma needs sm_90a and the permissions of tensor cores.
// OTHER-NOT: wgmma
// OTHER-NOT: tensor_map
// OTHER-NOT: mbarrier
// STRICT-NOT: wgmma

// A block has one producer warpgroup and two consumers. Operand A is K-major, B is N-major.
// REMARK: contraction-class | Category:ad-gpu | instruction=wgmma, kernel=dot_0
// CHECK: func.func private @dot_0({{.*}}) attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 192, persistent_blocks = 1, threads_per_block = 384, dynamic_shared_bytes = 213056, tensor_maps = [<operand = 0, box = 128x64, swizzle = 128>, <operand = 1, box = 64x64, swizzle = 128>]>}
// CHECK: llvm.mlir.global external @dot_0$shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: gpu.func @dot_0({{.*}}%[[LEFT:[^ ,]+]]: !llvm.ptr, %[[RIGHT:[^ ,]+]]: !llvm.ptr) kernel
// CHECK-SAME: nvvm.maxntid = array<i32: 384>

// One thread prefetches the tensor maps and initializes the mbarriers; all wait for it.
// CHECK: scf.if
// CHECK: nvvm.prefetch tensormap in_param_space, %[[LEFT]]
// CHECK: nvvm.prefetch tensormap in_param_space, %[[RIGHT]]
// CHECK-COUNT-8: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier

// The producer waits for an empty stage, expects all bytes of it, and loads one slab of A and four of B.
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait
// CHECK: %[[BYTES:.+]] = arith.constant 49152 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.+}}, %[[BYTES]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[LEFT]]
// CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[RIGHT]]
// CHECK-NOT: nvvm.cp.async.bulk

// Consumers keep one K tile in flight and release the one before it.
// CHECK: nvvm.setmaxregister increase 232
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.+}}m = 64, n = 256, k = 16{{.+}}A[{{.+}}<row>], B[{{.+}}<row>]
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.mbarrier.arrive %

// The epilogue is emitted once per 16 bytes of a result. A switch selects the registers of the columns.
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.index_switch
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-COUNT-4: arith.addf
// CHECK-NOT: arith.addf
func.func @large(%a: tensor<384x1000xbf16>, %b: tensor<1000x16384xbf16>, %r: tensor<16384xf32>) -> tensor<384x16384xf32> {
  %0 = ad.dot %a, %b : (tensor<384x1000xbf16>, tensor<1000x16384xbf16>) -> tensor<384x16384xf32>
  %1 = ad.add %0, %r : tensor<384x16384xf32>, tensor<16384xf32>
  return %1 : tensor<384x16384xf32>
}

// -----

// A small result has small tiles and one consumer, with the registers of the launch. A batch is an axis of the tensor map.
// REMARK: contraction-class | Category:ad-gpu | instruction=wgmma, kernel=dot_0
// CHECK: grid_size = 12, persistent_blocks = 2,
// CHECK-SAME: tensor_maps = [<operand = 0, box = 1x64x64, swizzle = 128>, <operand = 1, box = 1x64x64, swizzle = 128>]>
// CHECK: gpu.func @dot_0
// CHECK-NOT: setmaxregister
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.+}}box[%{{.+}}, %{{.+}}, %{{.+}}]
// CHECK: nvvm.wgmma.mma_async {{.+}}m = 64, n = 64, k = 16{{.+}}A[<f16>, <one>, <col>], B[<f16>, <one>, <col>]
func.func @small(%a: tensor<3x72x104xf16>, %b: tensor<3x90x72xf16>) -> tensor<3x104x90xf16> {
  %0 = ad.dot %a, %b batch [0] x [0] contract [1] x [2] : (tensor<3x72x104xf16>, tensor<3x90x72xf16>) -> tensor<3x104x90xf16>
  return %0 : tensor<3x104x90xf16>
}

// -----

// Rows that do not begin at a multiple of 16 bytes have no tensor map.
// REMARK: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// REMARK: wgmma | Category:ad-gpu | kernel=dot_0, reason="the rows of an operand have 132 bytes, which is no multiple of 16"
func.func @ragged(%a: tensor<64x66xbf16>, %b: tensor<66x64xbf16>) -> tensor<64x64xbf16> {
  %0 = ad.dot %a, %b : (tensor<64x66xbf16>, tensor<66x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

// REMARK: wgmma | Category:ad-gpu | kernel=dot_0, reason="an operand has no elements, or 2^31 of them or more"
func.func @empty(%a: tensor<64x0xbf16>, %b: tensor<0x64xbf16>) -> tensor<64x64xbf16> {
  %0 = ad.dot %a, %b : (tensor<64x0xbf16>, tensor<0x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

// REMARK: wgmma | Category:ad-gpu | kernel=dot_0, reason="an operand has more than five axes"
func.func @axes(%a: tensor<2x2x2x2x64x64xbf16>, %b: tensor<2x2x2x2x64x64xbf16>) -> tensor<2x2x2x2x64x64xbf16> {
  %0 = ad.dot %a, %b batch [0, 1, 2, 3] x [3, 2, 1, 0] contract [5] x [4] : (tensor<2x2x2x2x64x64xbf16>, tensor<2x2x2x2x64x64xbf16>) -> tensor<2x2x2x2x64x64xbf16>
  return %0 : tensor<2x2x2x2x64x64xbf16>
}

// -----

// REMARK: wgmma | Category:ad-gpu | kernel=dot_0, reason="an operand is contiguous along none of M, N and K"
func.func @batch_last(%a: tensor<64x64x8xbf16>, %b: tensor<8x64x64xbf16>) -> tensor<8x64x64xbf16> {
  %0 = ad.dot %a, %b batch [2] x [0] contract [1] x [1] : (tensor<64x64x8xbf16>, tensor<8x64x64xbf16>) -> tensor<8x64x64xbf16>
  return %0 : tensor<8x64x64xbf16>
}

// -----

// Tensor maps take sizes from the launch, but rows need a static size. The host counts the tiles.
// REMARK: contraction-class | Category:ad-gpu | instruction=wgmma, kernel=dot_0
// CHECK: #ad.launch_config<block, axes = 2, persistent_blocks = 2, tile = 64x64, dynamic_shared_bytes = {{[0-9]+}},
func.func @unknown_rows(%a: tensor<?x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<?x64xbf16> {
  %0 = ad.dot %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

// REMARK: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// REMARK: wgmma | Category:ad-gpu | kernel=dot_0, reason="the rows of an operand have a dynamic size"
func.func @unknown_k(%a: tensor<64x?xbf16>, %b: tensor<?x64xbf16>) -> tensor<64x64xbf16> {
  %0 = ad.dot %a, %b : (tensor<64x?xbf16>, tensor<?x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

// Operand A has five axes, as many as a tensor map can have. Rows of tiles run along the longest free one, not along the
// two heads of a group.
// REMARK: contraction-class | Category:ad-gpu | instruction=wgmma, kernel=dot_0
// CHECK: tensor_maps = [<operand = 0, box = 1x64x1x1x64, swizzle = 128>, <operand = 1, box = 1x64x1x64, swizzle = 128>]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.+}}, box[%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.+}}, box[%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}]
func.func @five_axes(%a: tensor<2x64x4x2x64xbf16>, %b: tensor<2x64x4x64xbf16>) -> tensor<2x4x64x2x64xbf16> {
  %0 = ad.dot %a, %b batch [0, 2] x [0, 2] contract [4] x [1] : (tensor<2x64x4x2x64xbf16>, tensor<2x64x4x64xbf16>) -> tensor<2x4x64x2x64xbf16>
  return %0 : tensor<2x4x64x2x64xbf16>
}
