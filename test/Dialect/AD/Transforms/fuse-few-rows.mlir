// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A GPU has a block for each row, so that a few long rows would leave it idle: their sums become kernels that a grid
// divides, and what follows them is elementwise. More rows, shorter ones and CPUs keep one kernel.
//
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --remarks-filter=ad-fuse 2> %t | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=reproducible --ad-to-cpu-fusion | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=DIVIDED

// CHECK-LABEL: func.func @few_long
// GPU: ad.reduce_max
// GPU: ad.fusion
// GPU: ad.exp
// GPU: ad.reduce_sum
// GPU: ad.fusion
// GPU: ad.div
// CPU-COUNT-1: ad.fusion
// CPU-NOT: ad.fusion
// CHECK: return
// REMARK: a kernel of both would be slower than one for each
// DIVIDED-COUNT-2: divided-reduction
func.func @few_long(%x: tensor<4x200000xf32>) -> tensor<4x200000xf32> {
  %y = ad.softmax %x axis 1 : tensor<4x200000xf32>
  return %y : tensor<4x200000xf32>
}

// CHECK-LABEL: func.func @many_long
// CHECK-COUNT-1: ad.fusion
// CHECK-NOT: ad.fusion
// CHECK: return
func.func @many_long(%x: tensor<64x200000xf32>) -> tensor<64x200000xf32> {
  %y = ad.softmax %x axis 1 : tensor<64x200000xf32>
  return %y : tensor<64x200000xf32>
}

// CHECK-LABEL: func.func @few_short
// CHECK-COUNT-1: ad.fusion
// CHECK-NOT: ad.fusion
// CHECK: return
func.func @few_short(%x: tensor<4x30000xf32>) -> tensor<4x30000xf32> {
  %y = ad.softmax %x axis 1 : tensor<4x30000xf32>
  return %y : tensor<4x30000xf32>
}
