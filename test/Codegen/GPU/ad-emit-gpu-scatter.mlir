// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK-DAG: scatter-class | Category:ad-gpu | indexed-axes=0, kernel=rows, work="59520 bytes, 10240 operations"
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=other_accumulator, reason="its updates have another type than its result"

// Two blocks for each multiprocessor at most: every one of them looks at all indices.
// CHECK: func.func private @rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 2, persistent_blocks = 2, tile = 1x256>}

// The threads of a warp look at 32 indices, and vote. Where the rows of two updates are one, the second starts from what
// the first gives; all are loaded before the first is stored. The start of the result is in its memory: nothing is written
// but updates.
// CHECK-LABEL: gpu.func @rows
// CHECK-NOT:   llvm.store
// CHECK:       nvvm.vote.sync ballot
// CHECK:       scf.while
// CHECK:       llvm.intr.cttz
// CHECK:       %[[FIRST:.+]] = llvm.load %{{.+}} : !llvm.ptr -> f32
// CHECK:       arith.addf
// CHECK-NOT:   llvm.store
// CHECK:       arith.cmpi eq
// CHECK:       arith.select
// CHECK:       arith.addf
// CHECK:       llvm.store %{{.+}} : f32, !llvm.ptr
ad.kernel private @rows(%x: tensor<100x64xf32>, %i: tensor<32xi32>, %u: tensor<32x64xf32>) -> tensor<100x64xf32>
    attributes {kernel_class = "scatter"} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%i, %u : tensor<32xi32>, tensor<32x64xf32>) outs(%x : tensor<100x64xf32>) {
  ^bb0(%index: i32, %new: f32, %old: f32):
    %row = linalg.index 0 : index
    %own = arith.index_cast %index : i32 to index
    %sum = arith.addf %old, %new : f32
    %hits = arith.cmpi eq, %own, %row : index
    %y = arith.select %hits, %sum, %old : f32
    linalg.yield %y : f32
  } -> tensor<100x64xf32>
  ad.yield %r : tensor<100x64xf32>
}

// A result that is converted afterwards: each element looks for its updates.
// CHECK-LABEL: gpu.func @other_accumulator
// CHECK-NOT:   nvvm.vote
// CHECK:       gpu.return
ad.kernel private @other_accumulator(%x: tensor<100xf32>, %i: tensor<32xi32>, %u: tensor<32xf32>) -> tensor<100xf16>
    attributes {kernel_class = "scatter"} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%i, %u : tensor<32xi32>, tensor<32xf32>) outs(%x : tensor<100xf32>) {
  ^bb0(%index: i32, %new: f32, %old: f32):
    %element = linalg.index 0 : index
    %own = arith.index_cast %index : i32 to index
    %sum = arith.addf %old, %new : f32
    %hits = arith.cmpi eq, %own, %element : index
    %y = arith.select %hits, %sum, %old : f32
    linalg.yield %y : f32
  } -> tensor<100xf32>
  %e = tensor.empty() : tensor<100xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%r : tensor<100xf32>) outs(%e : tensor<100xf16>) {
  ^bb0(%wide: f32, %out: f16):
    %y = arith.truncf %wide : f32 to f16
    linalg.yield %y : f16
  } -> tensor<100xf16>
  ad.yield %h : tensor<100xf16>
}
