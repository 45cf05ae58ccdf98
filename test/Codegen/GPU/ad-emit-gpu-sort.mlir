// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s --enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK: sort-class | {{.*}}kernel=movement_0, merges=no, tile=1024
// REMARK: sort-class | {{.*}}kernel=movement_0_0, merges=yes, tile=8192
// REMARK: sort-class | {{.*}}kernel=movement_0, merges=yes, tile=4096
// REMARK: sort-class | {{.*}}kernel=movement_0, merges=yes, tile=4096

// Ten lines of 100 elements share tiles of 1024 places: each has 128 of them. A thread sorts 8 items by the 19 exchanges of
// the odd-even merge sort; groups of 2, 4 and 8 threads merge theirs by shuffles; a round merges runs of 64 items. Keys and
// positions are 32 bits each.
// CHECK: func.func private @movement_0(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 2, tile = 100, threads_per_block = 128, dynamic_shared_bytes = 9224, elements = 8>}
// CHECK-LABEL: gpu.func @movement_0(
// CHECK:       scf.for
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr -> i32
// CHECK-COUNT-16: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK:       gpu.barrier
// CHECK-COUNT-16: llvm.load {{.*}} : !llvm.ptr<3> -> i32
// CHECK-COUNT-19: arith.cmpi ult, %{{.+}}, %{{.+}} : i64
// CHECK-NOT:   arith.cmpi ult, %{{.+}}, %{{.+}} : i64
// CHECK-COUNT-96: gpu.shuffle xor
// CHECK-NOT:   gpu.shuffle
// CHECK:       scf.for {{.*}} iter_args
// CHECK-COUNT-16: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK:         gpu.barrier
// CHECK:         scf.while
// CHECK:         gpu.barrier
// CHECK:         scf.yield
// CHECK:       gpu.barrier
// CHECK-COUNT-8: llvm.store {{.*}} : i64, !llvm.ptr{{$}}
// CHECK:       gpu.barrier
func.func @main(%x: tensor<10x100xf32>) -> tensor<10x100xi64> {
  %p = ad.argsort %x axis 1 : tensor<10x100xf32>
  return %p : tensor<10x100xi64>
}

// -----

// A line of several tiles: a kernel that sorts them, and one that merges two runs each time. The host launches it as often
// as its function says: the bits of the number of tiles, less one. The first axis becomes the last one before. A key of 16
// bits and its place in a tile are one word; runs have keys and positions.
// CHECK: func.func private @movement_0_0$sort_tiles(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<block, axes = 2, tile = 8192, threads_per_block = 1024, dynamic_shared_bytes = 36868>}
// CHECK: func.func private @movement_0_0$merge_runs(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<block, axes = 2, tile = 8192, threads_per_block = 1024, dynamic_shared_bytes = 73736>}
// CHECK-LABEL: func.func private @movement_0_0$run_sizes(
// CHECK:       llvm.intr.ctlz
// CHECK:       return
// CHECK: func.func private @movement_0_0(!llvm.ptr, !llvm.ptr) attributes {{{.+}}ad.sorted_runs}
// CHECK-LABEL: gpu.func @movement_0_0$sort_tiles(
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr -> i16
// CHECK-COUNT-8: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK-NEXT:  gpu.barrier
// CHECK-COUNT-19: arith.cmpi ult
// CHECK-LABEL: gpu.func @movement_0_0$merge_runs(
// CHECK:       scf.while
// CHECK:         nvvm.vote.sync ballot
// CHECK:         llvm.intr.ctpop
// CHECK:       gpu.barrier
// CHECK-NOT: gpu.func @movement_0_0(
func.func @main(%x: tensor<20000x3xf16>) -> tensor<20000x3xi64> {
  %p = ad.argsort %x axis 0 descending : tensor<20000x3xf16>
  return %p : tensor<20000x3xi64>
}

// -----

// Keys of 64 bits: an item has 12 bytes, and a tile fewer items.
// CHECK: func.func private @movement_0$sort_tiles({{.*}} attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 4096, threads_per_block = 512, dynamic_shared_bytes = 55308>}
// CHECK-LABEL: gpu.func @movement_0$sort_tiles(
// CHECK:       llvm.store %{{.+}}, %{{.+}} : i64, !llvm.ptr<3>
// CHECK:       llvm.store %{{.+}}, %{{.+}} : i32, !llvm.ptr<3>
func.func @main(%x: tensor<5000xi64>) -> tensor<5000xi64> {
  %p = ad.argsort %x axis 0 : tensor<5000xi64>
  return %p : tensor<5000xi64>
}

// -----

// An open length: the number of lines of a tile, and whether a tile is a run, follow from it. Blocks take tiles by turns.
// CHECK: func.func private @movement_0$sort_tiles({{.*}} attributes {ad.launch_config = #ad.launch_config<block, axes = 2, persistent_blocks = 2, tile = 4096, threads_per_block = 512, dynamic_shared_bytes = 18436>}
// CHECK-LABEL: gpu.func @movement_0$sort_tiles(
// CHECK:       llvm.intr.ctlz
// CHECK:       scf.if
// CHECK:       } else {
func.func @main(%x: tensor<?x?xi8>) -> tensor<?x?xi64> {
  %p = ad.argsort %x axis 1 : tensor<?x?xi8>
  return %p : tensor<?x?xi64>
}
