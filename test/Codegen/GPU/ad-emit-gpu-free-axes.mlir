// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands with several free axes, on tensor cores. test/Integration/strict_products_test.py compares the bits of random
// ones.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// The free axes of each operand, and of a bias, are one: 1024 rows and 256 columns are 8 x 2 tiles of 128 x 128, or 64 of
// 64 x 64.
// REMARK: contraction-class {{.*}}instruction=mma.sync, kernel=dot_0
// CHECK: func.func private @dot_0({{.*}}grid_size = 64
// CHECK-LABEL: gpu.func @dot_0
// CHECK: nvvm.mma.sync
func.func @projection(%x: tensor<8x128x64xbf16>, %w: tensor<64x32x8xbf16>, %b: tensor<32x8xbf16>) -> tensor<8x128x32x8xbf16> {
  %0 = ad.dot %x, %w contract [2] x [0] : (tensor<8x128x64xbf16>, tensor<64x32x8xbf16>) -> tensor<8x128x32x8xbf16>
  %1 = ad.add %0, %b : tensor<8x128x32x8xbf16>, tensor<32x8xbf16>
  %2 = ad.gelu %1 : tensor<8x128x32x8xbf16>
  return %2 : tensor<8x128x32x8xbf16>
}

// -----

// A bias that repeats along the heads keeps them apart: each of the 4 has 16 tiles of 64 rows and 64 columns.
// REMARK: contraction-class {{.*}}instruction=mma.sync, kernel=dot_0
// CHECK: func.func private @dot_0({{.*}}grid_size = 64
// CHECK-LABEL: gpu.func @dot_0
// CHECK: nvvm.mma.sync
func.func @bias_of_one_axis(%x: tensor<8x128x64xbf16>, %w: tensor<64x4x40xbf16>, %b: tensor<40xbf16>) -> tensor<8x128x4x40xbf16> {
  %0 = ad.dot %x, %w contract [2] x [0] : (tensor<8x128x64xbf16>, tensor<64x4x40xbf16>) -> tensor<8x128x4x40xbf16>
  %1 = ad.add %0, %b : tensor<8x128x4x40xbf16>, tensor<40xbf16>
  return %1 : tensor<8x128x4x40xbf16>
}

// -----

// The host counts the tiles of a dynamic number of rows, for each head.
// REMARK: contraction-class {{.*}}instruction=mma.sync, kernel=dot_0
// CHECK: func.func private @dot_0({{.*}}axes = 3, tile = 64x1x64
// CHECK-LABEL: gpu.func @dot_0
// CHECK: nvvm.mma.sync
func.func @open_rows(%x: tensor<?x?x64xbf16>, %w: tensor<4x64x40xbf16>) -> tensor<?x?x4x40xbf16> {
  %0 = ad.dot %x, %w contract [2] x [1] : (tensor<?x?x64xbf16>, tensor<4x64x40xbf16>) -> tensor<?x?x4x40xbf16>
  return %0 : tensor<?x?x4x40xbf16>
}
