// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s --enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK: attention_grad-class | {{.*}}instruction=fma, kernel=movement_0, tile=64x64
// REMARK: attention_grad-class | {{.*}}instruction=mma.sync, kernel=movement_0, tile=128x128
// REMARK: attention_grad-class | {{.*}}instruction=fma, kernel=movement_0, tile=64x64
// REMARK: attention-loops | {{.*}}reason="the cotangent of a mask is summed along axes that tiles divide"
// REMARK: attention-loops | {{.*}}reason="few queries have long chunks of keys, which its loops divide among blocks"
// REMARK: attention-loops | {{.*}}reason="its rows do not fit tensor cores here, but those of its loops"

// One launch: tiles of keys, whose queries are a loop over blocks and over their rows, and then tiles of queries. Each
// has both products of rows, of 16 for each thread and step of 4, and the product of 4 rows and 4 columns for each
// result.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: ad.launch
// CHECK-NOT:   ad.launch
// CHECK-LABEL: gpu.func @movement_0(
// CHECK-COUNT-128: math.fma
// CHECK:       ad.elementary exp {{.*}} : vector<4xf32>
// CHECK-COUNT-128: math.fma
// CHECK-COUNT-128: math.fma
// CHECK:       ad.elementary exp {{.*}} : vector<4xf32>
// CHECK-COUNT-64: math.fma
// CHECK-NOT:   math.fma
// CHECK-NOT:   atomic
func.func @main(%q: tensor<1x8x1024x64xf32>, %l: tensor<1x8x1024xf32>) -> (tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>) {
  %dq, %dk, %dv = ad.attention_grad %q, %q, %q, %l, %l, %q : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024xf32>, tensor<1x8x1024xf32>, tensor<1x8x1024x64xf32>
  return %dq, %dk, %dv : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>
}

// -----

// Tensor cores: a step of 64 rows has 8 fragments in each product of rows, times 4 steps of the depth. Sums of keys and
// values are in memory of the thread between two blocks of queries.
// CHECK-LABEL: gpu.func @movement_0(
// CHECK:       llvm.alloca %{{.+}} x f32
// CHECK:       nvvm.cp.async.shared.global
// CHECK-COUNT-128: nvvm.mma.sync
// CHECK-COUNT-96: nvvm.mma.sync
// CHECK-NOT:   nvvm.mma.sync
func.func @main(%q: tensor<4x16x2048x64xbf16>, %l: tensor<4x16x2048xf32>) -> (tensor<4x16x2048x64xbf16>, tensor<4x16x2048x64xbf16>, tensor<4x16x2048x64xbf16>) {
  %dq, %dk, %dv = ad.attention_grad %q, %q, %q, %l, %l, %q causal : tensor<4x16x2048x64xbf16>, tensor<4x16x2048x64xbf16>, tensor<4x16x2048x64xbf16>, tensor<4x16x2048xf32>, tensor<4x16x2048xf32>, tensor<4x16x2048x64xbf16>
  return %dq, %dk, %dv : tensor<4x16x2048x64xbf16>, tensor<4x16x2048x64xbf16>, tensor<4x16x2048x64xbf16>
}

// -----

// Only the cotangent of keys, by a grid of tiles of keys; the mask has one that nobody reads. The rows of a block are
// more than a block of the order of products: their sums are on a stack.
// CHECK: func.func private @movement_0({{.*}} attributes {ad.launch_config = #ad.launch_config<block, axes = 3, tile = 64,
// CHECK-LABEL: gpu.func @movement_0(
// CHECK:       llvm.alloca
// CHECK:       scf.while
func.func @main(%q: tensor<?x8x256x20xf32>, %k: tensor<?x2x200x20xf32>, %l: tensor<?x8x256xf32>, %m: tensor<?x1x1x200xf32>) -> tensor<?x2x200x20xf32> {
  %dq, %dk, %dv, %dm = ad.attention_grad %q, %k, %k, %l, %l, %q mask %m window 7 : tensor<?x8x256x20xf32>, tensor<?x2x200x20xf32>, tensor<?x2x200x20xf32>, tensor<?x8x256xf32>, tensor<?x8x256xf32>, tensor<?x8x256x20xf32>, tensor<?x1x1x200xf32>
  return %dk : tensor<?x2x200x20xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-COUNT-2: ad.launch
func.func @main(%q: tensor<1x8x64x16xf32>, %l: tensor<1x8x64xf32>, %m: tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> {
  %dq, %dk, %dv, %dm = ad.attention_grad %q, %q, %q, %l, %l, %q mask %m : tensor<1x8x64x16xf32>, tensor<1x8x64x16xf32>, tensor<1x8x64x16xf32>, tensor<1x8x64xf32>, tensor<1x8x64xf32>, tensor<1x8x64x16xf32>, tensor<1x1x64x64xf32>
  return %dm : tensor<1x1x64x64xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-COUNT-4: ad.launch
func.func @main(%q: tensor<1x8x1x64xf32>, %k: tensor<1x8x4096x64xf32>, %l: tensor<1x8x1xf32>) -> tensor<1x8x1x64xf32> {
  %dq, %dk, %dv = ad.attention_grad %q, %k, %k, %l, %l, %q : tensor<1x8x1x64xf32>, tensor<1x8x4096x64xf32>, tensor<1x8x4096x64xf32>, tensor<1x8x1xf32>, tensor<1x8x1xf32>, tensor<1x8x1x64xf32>
  return %dq : tensor<1x8x1x64xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK:       scf.for
func.func @main(%q: tensor<1x8x1024x20xbf16>, %l: tensor<1x8x1024xf32>) -> tensor<1x8x1024x20xbf16> {
  %dq, %dk, %dv = ad.attention_grad %q, %q, %q, %l, %l, %q : tensor<1x8x1024x20xbf16>, tensor<1x8x1024x20xbf16>, tensor<1x8x1024x20xbf16>, tensor<1x8x1024xf32>, tensor<1x8x1024xf32>, tensor<1x8x1024x20xbf16>
  return %dq : tensor<1x8x1024x20xbf16>
}
