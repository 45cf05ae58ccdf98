// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-host-to-llvm=device=true --split-input-file --verify-diagnostics | FileCheck %s

// Clusters are counted, and blocks are as many as these have; one cluster is there on the smallest device.
// CHECK-LABEL: func.func @adrt_entry_clusters
// CHECK: %[[ANSWER:.+]] = llvm.call @adrt_sm_count(
// CHECK: %[[SM_COUNT:.+]] = arith.index_cast %[[ANSWER]] : i32 to index
// CHECK: %[[PAIRS:.+]] = arith.divui %[[SM_COUNT]], %{{c2.*}} : index
// CHECK: %[[ROOM:.+]] = arith.maxui %[[PAIRS]], %{{c1.*}} : index
// CHECK: %[[CLUSTERS:.+]] = arith.minui %[[ROOM]], %{{c500.*}} : index
// CHECK: %[[BLOCKS:.+]] = arith.muli %[[CLUSTERS]], %{{c2.*}} : index
// CHECK: arith.index_cast %[[BLOCKS]] : index to i32
// CHECK: llvm.call @adrt_launch
func.func private @k(!llvm.ptr, !llvm.ptr)
    attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 1000, persistent_blocks = 1, cluster_size = 2>}
func.func @clusters(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Of unknown sizes too: no launch has more than 65535 blocks, nor half a cluster.
// CHECK-LABEL: func.func @adrt_entry_cluster_tiles
// CHECK: %[[ROWS:.+]] = arith.ceildivui %{{.+}}, %{{c256.*}} : index
// CHECK: %[[TILES:.+]] = arith.muli %[[ROWS]], %{{c3.*}} : index
// CHECK: %[[LIMITED:.+]] = arith.minui %[[TILES]], %{{c32767.*}} : index
// CHECK: %[[CLUSTERS:.+]] = arith.maxui %[[LIMITED]], %{{c1.*}} : index
// CHECK: arith.muli %[[CLUSTERS]], %{{c2.*}} : index
// CHECK: llvm.call @adrt_launch
func.func private @k(!llvm.ptr, index, !llvm.ptr, index) attributes {
  ad.launch_config = #ad.launch_config<block, axes = 2, cluster_size = 2, tile = 256x128>}
func.func @cluster_tiles(%x: tensor<?x300xf32>) -> tensor<?x300xf32> {
  %b0 = ad.buffer <pool, number = 1, bytes = 1200>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x300xf32>
  %y = ad.launch @k(%x) sizes(%n) into(%b0) : (tensor<?x300xf32>) -> tensor<?x300xf32>
  return %y : tensor<?x300xf32>
}
