// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The blocks of a cluster share a row where rows are few, or too long for the registers of one block.
//
// RUN: ad-opt %s --ad-emit-gpu=chip=sm_90 | FileCheck %s --enable-var-scope
// RUN: ad-opt %s --ad-emit-gpu=chip=sm_80 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT-NOT: cluster

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// 20000 elements are four chunks of the order and a part of the fifth. One row is alone on the machine: each chunk has
// a block. 100 rows have one each.
// CHECK: func.func private @one(!llvm.ptr, !llvm.ptr)
// CHECK-SAME: #ad.launch_config<block, axes = 1, cluster_size = 5, tile = 1, threads_per_block = 512, dynamic_shared_bytes = 16384>
// CHECK: func.func private @many(!llvm.ptr, !llvm.ptr)
// CHECK-NOT: cluster_size
// CHECK-LABEL: gpu.func @one
// CHECK-SAME: nvvm.cluster_dim = array<i32: 5, 1, 1>
// CHECK: %[[SLOTS:.+]] = llvm.mlir.addressof @one$cluster
// The rank in the cluster gives the chunk; the last block has fewer elements.
// CHECK: %[[RANK:.+]] = arith.remui %{{.+}}, %c5
// CHECK: %[[BEGIN:.+]] = arith.muli %[[RANK]], %c4096{{.*}}
// CHECK: %[[END:.+]] = arith.addi %[[BEGIN]], %c4096{{.*}}
// CHECK: %[[LAST:.+]] = arith.minui %[[END]], %c20000
// CHECK: %[[FIRST:.+]] = arith.addi %{{.+}}, %[[BEGIN]]
// CHECK: arith.cmpi ult, %[[FIRST]], %[[LAST]]
// Terms of the segment begin at 0.
// CHECK: arith.subi %{{.+}}, %[[BEGIN]]
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// A thread writes the sum of its block; after the barrier all threads read those of all blocks, and join adjacent ones
// first.
// CHECK: %[[SLOT:.+]] = llvm.getelementptr %[[SLOTS]]
// CHECK: llvm.store %{{.+}}, %[[SLOT]] {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: %[[THERE:.+]] = nvvm.mapa %[[SLOT]], %{{.+}} : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT: %[[A:.+]] = llvm.load %[[THERE]] {alignment = 4 : i64} : !llvm.ptr<7> -> f32
// CHECK: %[[B:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<7> -> f32
// CHECK: %[[C:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<7> -> f32
// CHECK: %[[D:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<7> -> f32
// CHECK: %[[E:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<7> -> f32
// CHECK-DAG: %[[AB:.+]] = arith.addf %[[A]], %[[B]]
// CHECK-DAG: %[[CD:.+]] = arith.addf %[[C]], %[[D]]
// CHECK: %[[ABCD:.+]] = arith.addf %[[AB]], %[[CD]]
// CHECK: arith.addf %[[ABCD]], %[[E]]
// No block ends before the others have read its sum.
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-LABEL: gpu.func @many
// CHECK-NOT: cluster
ad.kernel private @one(%a: tensor<1x20000xf32>) -> tensor<1x20000xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x20000xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  %g = tensor.empty() : tensor<1x20000xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<1x20000xf32>, tensor<1xf32>) outs(%g : tensor<1x20000xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %0 = arith.subf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<1x20000xf32>
  ad.yield %r : tensor<1x20000xf32>
}

ad.kernel private @many(%a: tensor<100x20000xf32>) -> tensor<100x20000xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<100x20000xf32>) outs(%f : tensor<100xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<100xf32>
  %g = tensor.empty() : tensor<100x20000xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<100x20000xf32>, tensor<100xf32>) outs(%g : tensor<100x20000xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %0 = arith.subf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<100x20000xf32>
  ad.yield %r : tensor<100x20000xf32>
}
