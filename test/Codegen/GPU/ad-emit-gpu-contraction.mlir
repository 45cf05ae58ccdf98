// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=fast --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.fast | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: FileCheck %s --check-prefix=TENSOR < %t.fast
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.exact | FileCheck %s --check-prefixes=CHECK,WRITTEN
// RUN: FileCheck %s --check-prefix=SIMT < %t.exact
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.strict | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: FileCheck %s --check-prefix=TENSOR < %t.strict
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=fast,narrow --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.narrow | FileCheck %s --check-prefix=TF32
// RUN: FileCheck %s --check-prefix=NARROW < %t.narrow

// Tensor cores need a permission that reproducible lacks; in strict their instruction is fixed before fusion. A product that is read in another order has the generic class.
// TENSOR-DAG: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// SIMT-DAG: contraction-class | Category:ad-gpu | instruction=fma, kernel=dot_0

// CHECK: func.func private @dot_0({{.*}}) attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 4
// FAST-SAME: threads_per_block = 128, dynamic_shared_bytes = 65536
// FAST: llvm.mlir.global external @dot_0$shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// WRITTEN: llvm.mlir.global internal @dot_0$shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<16384 x i8>
// CHECK-LABEL: gpu.func @dot_0

// Copies of three K tiles are in flight before the loop. Each iteration waits for one, starts the next, and multiplies
// one.
// FAST-COUNT-3: nvvm.cp.async.commit.group
// FAST: scf.for
// FAST: nvvm.cp.async.wait.group 2
// FAST-NEXT: gpu.barrier
// FAST: scf.if
// FAST: nvvm.cp.async.shared.global
// FAST: nvvm.cp.async.commit.group
// Operand A is K-major, B is N-major.
// FAST: nvvm.ldmatrix {{.+}}layout = #nvvm.mma_layout<row>
// FAST: nvvm.ldmatrix {{.+}}layout = #nvvm.mma_layout<col>
// FAST: nvvm.mma.sync {{.+}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// FAST: nvvm.cp.async.wait.group 0

// SIMT code has such a pipeline, too: each thread continues sixteen chains through all sixteen steps of a K tile, with
// vectors of four elements of both operands. Elements of A go through registers, since cp.async copies 4 bytes at least.
// WRITTEN-COUNT-2: nvvm.cp.async.commit.group
// WRITTEN: scf.for
// WRITTEN: nvvm.cp.async.wait.group 1
// WRITTEN-NEXT: gpu.barrier
// WRITTEN: scf.if
// WRITTEN: llvm.store
// WRITTEN: nvvm.cp.async.shared.global
// WRITTEN: nvvm.cp.async.commit.group
// WRITTEN-COUNT-2: llvm.load {{.+}} -> vector<4xi16>
// WRITTEN-COUNT-256: math.fma
// WRITTEN-NOT: math.fma

// The epilogue is emitted once.
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: scf.if
func.func @main(%a: tensor<100x96xbf16>, %b: tensor<96x128xbf16>, %r: tensor<128xbf16>) -> tensor<100x128xbf16> {
  %0 = ad.dot %a, %b : (tensor<100x96xbf16>, tensor<96x128xbf16>) -> tensor<100x128xbf16>
  %1 = ad.add %0, %r : tensor<100x128xbf16>, tensor<128xbf16>
  return %1 : tensor<100x128xbf16>
}

// -----

// Dynamic sizes: the host counts the tiles, and the length of rows decides whether 16-byte chunks are aligned.
// TENSOR-DAG: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// CHECK-LABEL: func.func private @dot_0({{.*}}) attributes {ad.launch_config = #ad.launch_config<block, axes = 3, tile = 64x64{{[^>]*}}>
// FAST-NOT: partial
// WRITTEN-SAME: ad.partial_reductions = "sizes"
// CHECK: gpu.func @dot_0(%{{[^:]+}}: !llvm.ptr, %[[K:[^:]+]]: index, %[[RIGHT:[^:]+]]: !llvm.ptr
// FAST: %[[REST:.+]] = arith.remui %[[K]], %{{.+}} : index
// FAST: %[[WHOLE:.+]] = arith.cmpi eq, %[[REST]]
// FAST: scf.if %[[WHOLE]]
// FAST: nvvm.cp.async.shared.global
// FAST: } else {
// FAST: llvm.store
// K of an operand in memory bounds the number of accumulators for blocks of the order.
// WRITTEN: %[[LEVELS:.+]] = llvm.mlir.constant(32 : i64)
// WRITTEN: llvm.alloca %[[LEVELS]] x f32
func.func @main(%a: tensor<2x48x?xbf16>, %b: tensor<2x?x?xbf16>) -> tensor<2x48x?xbf16> {
  %0 = ad.dot %a, %b batch [0] x [0] contract [2] x [1] : (tensor<2x48x?xbf16>, tensor<2x?x?xbf16>) -> tensor<2x48x?xbf16>
  return %0 : tensor<2x48x?xbf16>
}

// -----

// Sums of i8 are the same in any order, so tensor cores compute them in every mode. They need K-major tiles: A is
// copied in chunks, B is transposed element by element.
// TENSOR-DAG: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// SIMT-DAG: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// CHECK-LABEL: func.func private @dot_0
// CHECK: nvvm.cp.async.shared.global
// CHECK: llvm.store {{.+}} : i8, !llvm.ptr<3>
// CHECK: scf.for
// CHECK-NOT: nvvm.ldmatrix {{.+}}<col>
// CHECK: nvvm.ldmatrix {{.+}}layout = #nvvm.mma_layout<row>
// CHECK: nvvm.mma.sync {{.+}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.+}}shape = #nvvm.shape<m = 16, n = 8, k = 32>
func.func @bytes(%a: tensor<96x128xi8>, %b: tensor<128x64xi8>) -> tensor<96x64xi32> {
  %0 = ad.dot %a, %b : (tensor<96x128xi8>, tensor<128x64xi8>) -> tensor<96x64xi32>
  return %0 : tensor<96x64xi32>
}

// -----

// f32 is rounded to tf32 with the permission narrow only. Threads load words of an operand that is not K-major.
// CHECK-LABEL: func.func private @dot_0
// CHECK-NOT: nvvm.mma.sync
// NARROW: contraction-class | Category:ad-gpu | instruction=mma.sync, kernel=dot_0
// TF32: nvvm.ldmatrix {{.+}}layout = #nvvm.mma_layout<row>
// TF32: nvvm.convert.float.to.tf32 {{.+}}rnd = #nvvm.fp_rnd_mode<rna>
// TF32: llvm.load {{.+}} : !llvm.ptr<3> -> i32
// TF32: nvvm.mma.sync {{.+}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.+}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
func.func @narrow(%a: tensor<96x128xf32>, %b: tensor<128x64xf32>) -> tensor<96x64xf32> {
  %0 = ad.dot %a, %b : (tensor<96x128xf32>, tensor<128x64xf32>) -> tensor<96x64xf32>
  return %0 : tensor<96x64xf32>
}
