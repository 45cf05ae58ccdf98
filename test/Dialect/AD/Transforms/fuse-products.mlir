// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two products in one kernel: the CPU's tiles of registers hold both, those of a GPU belong to one, which the class of
// contractions says before fusion joins them (KernelClass::runsWell).
//
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=fast --ad-to-cpu-fusion | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=fast --ad-to-gpu-fusion --remarks-filter=ad-fuse 2> %t | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: FileCheck %s --check-prefix=REMARK < %t

// CHECK-LABEL: func.func @gated
// CPU: ad.fusion
// CPU: ad.dot
// CPU: ad.dot
// CPU: return
// GPU-COUNT-2: ad.fusion
// GPU: return
// REMARK: a kernel of both would be slower than one for each
func.func @gated(%x: tensor<64x96xf32>, %gate: tensor<96x128xf32>, %up: tensor<96x128xf32>) -> tensor<64x128xf32> {
  %g = ad.dot %x, %gate : (tensor<64x96xf32>, tensor<96x128xf32>) -> tensor<64x128xf32>
  %u = ad.dot %x, %up : (tensor<64x96xf32>, tensor<96x128xf32>) -> tensor<64x128xf32>
  %s = ad.silu %g : tensor<64x128xf32>
  %y = ad.mul %s, %u : tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}

// What follows one product is still in its kernel.
// CHECK-LABEL: func.func @activated
// CHECK-COUNT-1: ad.fusion
// CHECK: ad.gelu
// CHECK-NOT: ad.fusion
// CHECK: return
func.func @activated(%x: tensor<64x96xf32>, %w: tensor<96x128xf32>, %b: tensor<128xf32>) -> tensor<64x128xf32> {
  %g = ad.dot %x, %w : (tensor<64x96xf32>, tensor<96x128xf32>) -> tensor<64x128xf32>
  %c = ad.add %g, %b : tensor<64x128xf32>, tensor<128xf32>
  %y = ad.gelu %c : tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}
