// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu | FileCheck %s

// A warp has a bundle of two columns, and eight leaves of it: all of a chain, so that no second kernel joins them. It
// has threads for two bundles, but 64 bundles are fewer than the warps that a GPU runs at the same time.
// CHECK-LABEL: func.func private @reduce_0(
// CHECK-SAME: #ad.launch_config<warp, axes = 2, threads_per_block = 64, elements = 2>
// CHECK-NOT: $partial
// CHECK: gpu.func @reduce_0(
// Where the runs begin and end.
// CHECK: scf.for
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-COUNT-2: llvm.store %{{.+}} : i64, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// Chunks of 32 steps, 128 bytes of each column, in copies of 16 bytes: those of three chunks are under way.
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[SUM:.+]] = %{{.+}}) -> (f32)
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: llvm.mlir.constant
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// All steps are loaded from shared memory before the first one is combined. Nothing is loaded from memory.
// CHECK: scf.if
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK-COUNT-32: llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK-NOT: llvm.load
// CHECK-COUNT-32: arith.addf
// Adjacent threads have adjacent leaves.
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c2_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c4_i32
// CHECK-NOT: gpu.shuffle
// CHECK: scf.if
// CHECK: llvm.store %{{.+}} : f32, !llvm.ptr
// CHECK: gpu.return
func.func @leaves_of_a_warp(%x: tensor<64x4096x2xf32>) -> tensor<64x2xf32> {
  %y = ad.reduce_sum %x axes [1] : tensor<64x4096x2xf32> -> tensor<64x2xf32>
  return %y : tensor<64x2xf32>
}

// -----

// More leaves than a warp computes at a time are nodes. 196 of three columns are spread over as many warps, whose idle
// threads the count of threads includes.
// CHECK-LABEL: func.func private @reduce_0$partial_sizes(
// CHECK: arith.ceildivui %{{.+}}, %c3
// CHECK: return
// CHECK: func.func private @reduce_0$partial({{.+}}) attributes {ad.launch_config = #ad.launch_config<thread, axes = 0, threads_per_block = 64>}
// CHECK: gpu.func @reduce_0$partial
// CHECK: nvvm.cp.async.shared.global
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.func @reduce_0$merge
func.func @nodes(%x: tensor<100000x3xf32>) -> tensor<3xf32> {
  %y = ad.reduce_sum %x axes [0] : tensor<100000x3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Runs of an odd number of 16-bit elements begin anywhere: copies begin at the multiple of 16 bytes before them, one more
// than a chunk has. What the product reads in runs is copied; the scale is loaded once, before the chain.
// CHECK-LABEL: func.func private @reduce_0(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<warp, axes = 2, threads_per_block = 64, elements = 30>}
// CHECK: gpu.func @reduce_0(
// CHECK: llvm.load %{{.+}} {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK: nvvm.cp.async.wait.group
// CHECK-COUNT-4: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: !llvm.ptr -> i16
// CHECK: gpu.return
func.func @unaligned(%x: tensor<40000x101x3xbf16>, %w: tensor<3xbf16>) -> tensor<40000x3xbf16> {
  %0 = ad.mul %x, %w : tensor<40000x101x3xbf16>, tensor<3xbf16>
  %y = ad.reduce_sum %0 axes [1] : tensor<40000x101x3xbf16> -> tensor<40000x3xbf16>
  return %y : tensor<40000x3xbf16>
}

// -----

// More columns, short chains and an order of short blocks.
// CHECK-LABEL: func.func @many(
// CHECK-NOT: nvvm.cp.async
func.func @many(%x: tensor<4000x512x33xf32>) -> tensor<4000x33xf32> {
  %y = ad.reduce_sum %x axes [1] : tensor<4000x512x33xf32> -> tensor<4000x33xf32>
  return %y : tensor<4000x33xf32>
}
func.func @short(%x: tensor<40000x63x2xf32>) -> tensor<40000x2xf32> {
  %y = ad.reduce_sum %x axes [1] : tensor<40000x63x2xf32> -> tensor<40000x2xf32>
  return %y : tensor<40000x2xf32>
}
func.func @short_blocks(%x: tensor<40000x100x2xf32>) -> tensor<40000x2xf32> {
  %y = ad.reduce_sum %x axes [1] {order = #ad.order<block = 8>} : tensor<40000x100x2xf32> -> tensor<40000x2xf32>
  return %y : tensor<40000x2xf32>
}
