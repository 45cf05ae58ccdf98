// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products whose K is divided (decision 0050): blocks compute tiles of nodes, and another kernel joins them.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=strict --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK: divided-reduction | Category:ad-gpu | divided=always, kernel=dot_0
// REMARK: divided-reduction | Category:ad-gpu | divided="by its sizes", kernel=dot_0
// REMARK-NOT: divided-reduction

// The function after a product belongs to the kernel that joins.
// CHECK-LABEL: func.func private @dot_0$partial_sizes(
// CHECK: gpu.func @dot_0$partial
// CHECK: math.fma
// CHECK-NOT: arith.maximumf
// CHECK: gpu.func @dot_0$merge
// CHECK-COUNT-7: arith.addf
// CHECK: ad.elementary  exp
// CHECK: gpu.return
func.func @fma(%x: tensor<4096x256xf32>, %g: tensor<4096x128xf32>) -> tensor<256x128xf32> {
  %y = ad.dot %x, %g contract [0] x [0] : (tensor<4096x256xf32>, tensor<4096x128xf32>) -> tensor<256x128xf32>
  %e = ad.exp %y : tensor<256x128xf32>
  return %e : tensor<256x128xf32>
}

// -----

// Each node is one chain of 512 on tensor cores. An open K may have 2^40 bytes, so 2^31 chains, of which a thread joins eight
// at a time: 2^28 groups, 29 levels.
// CHECK-LABEL: func.func private @dot_0$partial_sizes(
// CHECK: gpu.func @dot_0$partial
// CHECK: nvvm.mma.sync
// CHECK: gpu.func @dot_0$merge
// CHECK: %[[LEVELS:.+]] = llvm.mlir.constant(29 : i64)
// CHECK: llvm.alloca %[[LEVELS]] x f32
func.func @chains(%x: tensor<?x256xbf16>, %g: tensor<?x128xbf16>) -> tensor<256x128xf32> {
  %y = ad.dot %x, %g contract [0] x [0] : (tensor<?x256xbf16>, tensor<?x128xbf16>) -> tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}

// -----

// Enough tiles, and a short K.
func.func @undivided(%x: tensor<64x300xf32>, %w: tensor<300x64xf32>, %a: tensor<2048x4096xf32>, %b: tensor<4096x2048xf32>) -> (tensor<64x64xf32>, tensor<2048x2048xf32>) {
  %y = ad.dot %x, %w : (tensor<64x300xf32>, tensor<300x64xf32>) -> tensor<64x64xf32>
  %z = ad.dot %a, %b : (tensor<2048x4096xf32>, tensor<4096x2048xf32>) -> tensor<2048x2048xf32>
  return %y, %z : tensor<64x64xf32>, tensor<2048x2048xf32>
}
