// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s --enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK: attention-class | {{.*}}instruction=fma, kernel=movement_0, tile=64x64
// REMARK: attention-class | {{.*}}instruction=mma.sync, kernel=movement_0, tile=128x64
// REMARK: attention-class | {{.*}}instruction=fma, kernel=movement_0, tile=16x32
// REMARK: attention-class | {{.*}}instruction=fma, kernel=movement_0, tile=64x16
// REMARK: attention-class | {{.*}}instruction=fma, kernel=movement_0, launches=3, tile=1x32
// REMARK: attention-class | {{.*}}instruction=mma.sync, kernel=movement_0, launches=3, tile=4x128
// REMARK: attention-loops | {{.*}}reason="few queries have long chunks of keys, which its loops divide among blocks"
// REMARK: attention-loops | {{.*}}reason="chunks of keys have any length, since the number of queries is open; write a chunk of up to 256"
// REMARK: attention-loops | {{.*}}reason="its rows are too long for tensor cores here, but not for those of its loops"

// One launch for all heads and blocks. The product of queries and keys goes through the depth in slices of 32, that of
// weights and values through the keys; both start from 0, and no thread contracts anything else.
// CHECK: func.func private @movement_0({{.*}} attributes {ad.launch_config = #ad.launch_config<block, axes = 3, tile = 64, dynamic_shared_bytes = 86784>}
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: ad.launch
// CHECK-NOT:   ad.launch
// CHECK-LABEL: gpu.func @movement_0(
// CHECK:       scf.for
// CHECK:       scf.for
// CHECK:       gpu.barrier
// CHECK:       gpu.barrier
// CHECK-COUNT-64: math.fma
// CHECK-NOT:   math.fma
// CHECK:       llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK:       arith.maximumf
// CHECK:       gpu.shuffle xor
// CHECK:       ad.elementary exp {{.*}} : f32
// CHECK:       ad.elementary exp {{.*}} : vector<4xf32>
// CHECK-COUNT-64: math.fma
// CHECK-NOT:   math.fma
// CHECK:       arith.divf
func.func @main(%q: tensor<2x8x1024x64xf32>, %k: tensor<2x8x1024x64xf32>) -> tensor<2x8x1024x64xf32> {
  %y, %l = ad.attention %q, %k, %k : tensor<2x8x1024x64xf32>, tensor<2x8x1024x64xf32>, tensor<2x8x1024x64xf32>
  return %y : tensor<2x8x1024x64xf32>
}

// -----

// Tensor cores: 4 tiles of 64 keys are scores of 8 fragments and 4 steps of the depth, and 4 steps of 8 fragments of
// values. Only chunks that causal cuts are masked.
// CHECK: func.func private @movement_0({{.*}} tile = 128, dynamic_shared_bytes = 49152>}
// CHECK-LABEL: gpu.func @movement_0(
// CHECK:       nvvm.cp.async.shared.global
// CHECK-COUNT-128: nvvm.mma.sync
// CHECK:       scf.if
// CHECK:       arith.maximumf
// CHECK:       ad.elementary exp {{.*}} : vector<4xf32>
// CHECK-COUNT-64: ad.convert {{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK-COUNT-128: nvvm.mma.sync
// CHECK-NOT:   nvvm.mma.sync
// CHECK:       arith.divf
func.func @main(%q: tensor<4x16x2048x64xbf16>) -> tensor<4x16x2048x64xbf16> {
  %y, %l = ad.attention %q, %q, %q causal : tensor<4x16x2048x64xbf16>, tensor<4x16x2048x64xbf16>, tensor<4x16x2048x64xbf16>
  return %y : tensor<4x16x2048x64xbf16>
}

// -----

// 16 rows are the four heads of each query, and none is alone. Sizes of the depth that tensor cores lack are computed
// by FMA.
// CHECK: func.func private @movement_0({{.*}} tile = 16,
// CHECK-LABEL: gpu.func @movement_0(
// CHECK:       ad.elementary log
func.func @main(%q: tensor<?x8x3x20xf16>, %k: tensor<?x2x200x20xf16>, %m: tensor<?x1x1x200xi1>) -> tensor<?x8x3xf32> {
  %y, %l = ad.attention %q, %k, %k mask %m window 7 : tensor<?x8x3x20xf16>, tensor<?x2x200x20xf16>, tensor<?x2x200x20xf16>, tensor<?x1x1x200xi1>
  return %l : tensor<?x8x3xf32>
}

// -----

// A long chunk: its scores are computed twice. Sums of its 18 blocks of 512 keys, of which a thread has four, and of its
// three chunks of 4096 are on stacks.
// CHECK-LABEL: gpu.func @movement_0(
// CHECK-DAG:   %[[BLOCKS:.+]] = llvm.mlir.constant(24 : i64) : i64
// CHECK-DAG:   llvm.alloca %[[BLOCKS]] x f32
// CHECK-DAG:   %[[CHUNKS:.+]] = llvm.mlir.constant(3 : i64) : i64
// CHECK-DAG:   llvm.alloca %[[CHUNKS]] x f32
// CHECK:       scf.while
func.func @main(%q: tensor<?x64x1x8xf32>, %k: tensor<?x1x9000x8xf32>) -> tensor<?x64x1x8xf32> {
  %y, %l = ad.attention %q, %k, %k : tensor<?x64x1x8xf32>, tensor<?x1x9000x8xf32>, tensor<?x1x9000x8xf32>
  return %y : tensor<?x64x1x8xf32>
}

// -----

// One query: 32 slabs of each of 8 heads, 8 leaves in two panels of columns and a node of its sum, and 8 rows. The host
// knows them, and the memory between the launches.
// CHECK: func.func private @movement_0$stage_sizes({{.*}} -> (index, index, index, index) {
// CHECK-DAG:   %[[BYTES:.+]] = arith.constant 148544 : i64
// CHECK: func.func private @movement_0({{.*}}ad.launch_stages = ["$scores", "$parts", "$join"]
// CHECK-LABEL: gpu.func @movement_0$scores(
// CHECK:       nvvm.cp.async.shared.global
// CHECK:       math.fma
// CHECK:       arith.maximumf
// CHECK-LABEL: gpu.func @movement_0$parts(
// CHECK:       nvvm.cp.async.shared.global
// CHECK:       ad.elementary exp
// CHECK:       math.fma
// CHECK-LABEL: gpu.func @movement_0$join(
// CHECK-NOT:   math.fma
// CHECK:       arith.divf
func.func @main(%q: tensor<1x8x1x64xf32>, %k: tensor<1x8x4096x64xf32>) -> tensor<1x8x1x64xf32> {
  %y, %l = ad.attention %q, %k, %k : tensor<1x8x1x64xf32>, tensor<1x8x4096x64xf32>, tensor<1x8x4096x64xf32>
  return %y : tensor<1x8x1x64xf32>
}

// -----

// An open number of keys, four heads of a group, tensor cores: a block of products sums its weights, too, since a chunk
// is written.
// CHECK-LABEL: gpu.func @movement_0$scores(
// CHECK:       nvvm.mma.sync
// CHECK-LABEL: gpu.func @movement_0$parts(
// CHECK:       ad.elementary exp
// CHECK-NOT:   ad.elementary exp
// CHECK:       nvvm.mma.sync
// CHECK-LABEL: gpu.func @movement_0$join(
// CHECK:       ad.elementary exp
func.func @main(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x?x128xbf16>) -> tensor<1x32x1x128xbf16> {
  %y, %l = ad.attention %q, %k, %k chunk 256 : tensor<1x32x1x128xbf16>, tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>
  return %y : tensor<1x32x1x128xbf16>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-COUNT-4: ad.launch
func.func @main(%q: tensor<1x8x100x64xf32>, %k: tensor<1x8x4096x64xf32>) -> tensor<1x8x100x64xf32> {
  %y, %l = ad.attention %q, %k, %k : tensor<1x8x100x64xf32>, tensor<1x8x4096x64xf32>, tensor<1x8x4096x64xf32>
  return %y : tensor<1x8x100x64xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK:       scf.for
func.func @main(%q: tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %y, %l = ad.attention %q, %q, %q : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
  return %y : tensor<1x8x?x64xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK:       scf.for
func.func @main(%q: tensor<1x8x1024x256xbf16>) -> tensor<1x8x1024x256xbf16> {
  %y, %l = ad.attention %q, %q, %q : tensor<1x8x1024x256xbf16>, tensor<1x8x1024x256xbf16>, tensor<1x8x1024x256xbf16>
  return %y : tensor<1x8x1024x256xbf16>
}

// -----

// A number that is repeated is an operand: the kernel has nothing beside the operation.
// CHECK-LABEL: func.func @main(
// CHECK:       ad.launch @movement_0
func.func @main(%k: tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> {
  %q = ad.constant dense<0.5> : tensor<1x2x64x16xf32>
  %y, %l = ad.attention %q, %k, %k : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>
  return %y : tensor<1x2x64x16xf32>
}
