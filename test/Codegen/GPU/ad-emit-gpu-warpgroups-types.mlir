// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// wgmma multiplies K-major i8 in every mode, and K-major f32 as tf32 with the permission narrow.
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=fast,narrow --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu=chip=sm_90a --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu=chip=sm_90a | FileCheck %s --check-prefix=EXACT

// A staged row of 128 bytes has K = 128, an instruction K = 32; accumulators of i32 wrap.
// REMARK: contraction-class | Category:ad-gpu | instruction=wgmma, kernel=dot_0
// CHECK: func.func private @dot_0
// CHECK-SAME: threads_per_block = 384, dynamic_shared_bytes = 213056,
// CHECK-SAME: tensor_maps = [<operand = 0, box = 128x128, swizzle = 128>, <operand = 1, box = 256x128, swizzle = 128>]>
// CHECK: %[[BYTES:.+]] = arith.constant 49152 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.+}}, %[[BYTES]]
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: nvvm.cp.async.bulk
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.+}}m = 64, n = 256, k = 32>, D[<s32>, <one>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>] : !llvm.struct<(i32,
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// EXACT: func.func @bytes
// EXACT: nvvm.wgmma.mma_async {{.+}}A[<s8>
func.func @bytes(%a: tensor<384x1008xi8>, %b: tensor<16384x1008xi8>) -> tensor<384x16384xi32> {
  %0 = ad.dot %a, %b batch [] x [] contract [1] x [1] : (tensor<384x1008xi8>, tensor<16384x1008xi8>) -> tensor<384x16384xi32>
  return %0 : tensor<384x16384xi32>
}

// -----

// A staged row has K = 32, an instruction K = 8; TMA rounds to tf32.
// REMARK: contraction-class | Category:ad-gpu | instruction=wgmma, kernel=dot_0
// CHECK: func.func private @dot_0
// CHECK-SAME: tensor_maps = [<operand = 0, box = 1x64x32, swizzle = 128, tf32 = true>, <operand = 1, box = 1x64x32, swizzle = 128, tf32 = true>]
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.+}}m = 64, n = 64, k = 8>, D[<f32>, <one>], A[<tf32>, <one>, <row>], B[<tf32>, <one>, <col>] : !llvm.struct<(f32,
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// EXACT: func.func @words
// EXACT-NOT: wgmma
func.func @words(%a: tensor<3x104x72xf32>, %b: tensor<3x90x72xf32>) -> tensor<3x104x90xf32> {
  %0 = ad.dot %a, %b batch [0] x [0] contract [2] x [2] : (tensor<3x104x72xf32>, tensor<3x90x72xf32>) -> tensor<3x104x90xf32>
  return %0 : tensor<3x104x90xf32>
}

// -----

// REMARK: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// REMARK: wgmma | Category:ad-gpu | kernel=dot_0, reason="wgmma takes only K-major operands of i8"
// CHECK: func.func @n_major_bytes
// CHECK-NOT: wgmma
// CHECK: nvvm.mma.sync
func.func @n_major_bytes(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %0 = ad.dot %a, %b : (tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

// -----

// REMARK: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// REMARK: wgmma | Category:ad-gpu | kernel=dot_0, reason="wgmma takes only K-major operands of f32"
// CHECK: func.func @n_major_words
// CHECK-NOT: wgmma
// CHECK: nvvm.mma.sync
func.func @n_major_words(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = ad.dot %a, %b batch [] x [] contract [0] x [1] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// REMARK: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// REMARK: wgmma | Category:ad-gpu | kernel=dot_0, reason="the rows of an operand have 72 bytes, which is no multiple of 16"
func.func @ragged(%a: tensor<64x72xi8>, %b: tensor<64x72xi8>) -> tensor<64x64xi32> {
  %0 = ad.dot %a, %b batch [] x [] contract [1] x [1] : (tensor<64x72xi8>, tensor<64x72xi8>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}
