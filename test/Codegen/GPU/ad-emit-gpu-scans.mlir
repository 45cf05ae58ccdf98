// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-gpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Running reductions in nested chains (decision 0046): which are tiled, and which the grid divides. In one chain, each thread
// has a row.
// REMARK: scan-class | Category:ad-gpu | chains=contiguous, kernel=reduce_0
// REMARK-NOT: divided-reduction
// REMARK: scan-class | Category:ad-gpu | chains=adjacent, kernel=reduce_0
// REMARK-NOT: divided-reduction
// REMARK: scan-class | Category:ad-gpu | chains=alternating, kernel=reduce_0
// REMARK-NOT: divided-reduction
// REMARK: scan-class | Category:ad-gpu | chains=contiguous, kernel=reduce_0
// REMARK: divided-reduction | Category:ad-gpu | divided=always, kernel=reduce_0
// REMARK: scan-class | Category:ad-gpu | chains=alternating, kernel=reduce_0
// REMARK: divided-reduction | Category:ad-gpu | divided=always, kernel=reduce_0
// REMARK: scan-class | Category:ad-gpu | chains=contiguous, kernel=reduce_0
// REMARK: divided-reduction | Category:ad-gpu | divided="by its sizes", kernel=reduce_0
// REMARK: generic-class | Category:ad-gpu | kernel=reduce_0, reason="its order is one chain"
// REMARK: slow-kernel | Category:ad-gpu | kernel=reduce_0, reason="each thread has a running reduction of 10000 steps"

// Eight blocks of 128 for each of 16 rows: the totals of 128 blocks, and for each warp a square of 32 by 33 elements. Loads of
// a whole square come first; then a thread goes through the steps of its block.
// CHECK-LABEL: module attributes
// CHECK: func.func private @reduce_0({{.*}}tile = 16x1099511627776, threads_per_block = 128
// CHECK: llvm.mlir.global internal @reduce_0$totals() {{.*}} : !llvm.array<512 x i8>
// CHECK: llvm.mlir.global internal @reduce_0$squares() {{.*}} : !llvm.array<16896 x i8>
// CHECK: gpu.func @reduce_0
// CHECK: gpu.barrier
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-32: llvm.load %{{.+}} {alignment = 2 : i64}
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-32: arith.addf
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: nvvm.bar.warp.sync
// CHECK: gpu.return
func.func @rows(%x: tensor<40x1000xbf16>) -> tensor<40x1000xbf16> {
  %y = ad.cumsum %x axis 1 : tensor<40x1000xbf16>
  return %y : tensor<40x1000xbf16>
}

// -----

// Adjacent threads have adjacent columns: no squares. A thread loads 32 steps of its block before it adds the first one.
// CHECK-LABEL: module attributes
// CHECK: func.func private @reduce_0({{.*}}tile = 1099511627776x32
// CHECK-NOT: $squares
// CHECK: gpu.func @reduce_0
// CHECK: gpu.barrier
// CHECK: scf.for %{{.+}} step %c32{{.*}} iter_args(%[[SUM:.+]] = %{{.+}}) -> (f32)
// CHECK-COUNT-32: llvm.load
// CHECK: arith.addf %[[SUM]], %{{.+}}
// CHECK: gpu.return
func.func @columns(%x: tensor<5000x4000xf32>) -> tensor<5000x4000xf32> {
  %y = ad.cumsum %x axis 0 : tensor<5000x4000xf32>
  return %y : tensor<5000x4000xf32>
}

// -----

// Three columns alternate in memory (decision 0058): the square of each of 8 warps has 8 blocks of the order, and 33 steps of
// 3 columns for each. Lanes load 24 rows of 32 adjacent elements; then each of 24 lanes adds every third element.
// CHECK-LABEL: module attributes
// CHECK: func.func private @reduce_0({{.*}}tile = 8x1099511627776x3
// CHECK: llvm.mlir.global internal @reduce_0$totals() {{.*}} : !llvm.array<768 x i8>
// CHECK: llvm.mlir.global internal @reduce_0$squares() {{.*}} : !llvm.array<25344 x i8>
// CHECK: gpu.func @reduce_0
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-24: llvm.load %{{.+}} {alignment = 4 : i64}
// CHECK: nvvm.bar.warp.sync
// CHECK: arith.cmpi ult, %{{.+}}, %c24
// CHECK: scf.if
// CHECK-COUNT-32: arith.addf
// CHECK: gpu.return
func.func @few_columns(%x: tensor<40x1024x3xf32>) -> tensor<40x1024x3xf32> {
  %y = ad.cumsum %x axis 1 : tensor<40x1024x3xf32>
  return %y : tensor<40x1024x3xf32>
}

// -----

// Seven tiles: one kernel writes their totals, and a thread block of the other one starts with the totals before its own.
// CHECK-LABEL: module attributes
// CHECK: func.func private @reduce_0$partial_sizes(
// CHECK: func.func private @reduce_0$partial({{.*}}tile = 16384
// CHECK: func.func private @reduce_0$merge({{.*}}persistent_blocks = 8, tile = 16384
// CHECK: func.func private @reduce_0({{.*}}ad.partial_reductions = "always"
// CHECK: gpu.func @reduce_0$partial
// CHECK: gpu.return
// CHECK: gpu.func @reduce_0$merge
// CHECK: gpu.return
func.func @long(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  %y = ad.cumsum %x axis 0 : tensor<100000xf32>
  return %y : tensor<100000xf32>
}

// -----

// Of 5 columns, a thread block has 32 blocks of the order at a time: each of 7 tiles is divided into 4 parts. The second kernel
// sums the totals of blocks, and has those of tiles in shared memory.
// CHECK-LABEL: module attributes
// CHECK: func.func private @reduce_0$partial({{.*}}tile = 4096x5
// CHECK: func.func private @reduce_0$merge({{.*}}persistent_blocks = 8, tile = 4096x5
// CHECK-NOT: @reduce_0$partial$tiles
// CHECK: llvm.mlir.global internal @reduce_0$merge$tiles() {{.*}} : !llvm.array<140 x i8>
// CHECK: gpu.func @reduce_0$merge
// CHECK: gpu.return
func.func @parts(%x: tensor<100000x5xf32>) -> tensor<100000x5xf32> {
  %y = ad.cumsum %x axis 0 : tensor<100000x5xf32>
  return %y : tensor<100000x5xf32>
}

// -----

// The host divides where chains are few and have several tiles.
// CHECK-LABEL: module attributes
// CHECK: func.func private @reduce_0$partial_sizes(
// CHECK: arith.cmpi ult
// CHECK: arith.cmpi ugt
// CHECK: return
// CHECK: func.func private @reduce_0({{.*}}ad.partial_reductions = "sizes"
func.func @open(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = ad.cumsum %x axis 1 : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: module attributes
// CHECK: func.func private @reduce_0({{.*}}#ad.launch_config<thread, axes = 2>
func.func @chain(%x: tensor<40x10000xf32>) -> tensor<40x10000xf32> {
  %y = ad.cumsum %x axis 1 {order = #ad.order<chain>} : tensor<40x10000xf32>
  return %y : tensor<40x10000xf32>
}
