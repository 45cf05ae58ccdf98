// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu=vector-bytes=64 | FileCheck %s

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Two short rows per iteration: both sums before the first product, then the vectors of both alternately, so that loads of
// one row overlap with the sum of the other. The next row is 32 elements further. The last row may be alone.
// CHECK-LABEL: func.func private @two_rows
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : index
// CHECK-DAG: %[[TWO:.+]] = arith.constant 2 : index
// CHECK: scf.for %[[ROW:.+]] = %{{.+}} to %[[PAIRS:.+]] step %[[TWO]] {
// CHECK: scf.for
// CHECK: %{{.+}} = arith.muli %[[ROW]], %{{.+}}
// CHECK: %[[SUM:.+]] = vector.extract %{{.+}}[0] : f32 from vector<1xf32>
// CHECK: scf.for
// CHECK: arith.muli %[[ROW]], %{{.+}}
// CHECK: llvm.getelementptr %{{.+}}[32] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: %[[NEXT_SUM:.+]] = vector.extract %{{.+}}[0] : f32 from vector<1xf32>
// CHECK: vector.broadcast %[[SUM]] : f32 to vector<16xf32>
// CHECK: arith.mulf
// CHECK: vector.broadcast %[[NEXT_SUM]] : f32 to vector<16xf32>
// CHECK: arith.mulf
// CHECK: vector.broadcast %[[SUM]] : f32 to vector<16xf32>
// CHECK: vector.broadcast %[[NEXT_SUM]] : f32 to vector<16xf32>
// CHECK: scf.for %{{.+}} = %[[PAIRS]] to %{{.+}} step %[[ONE]] {
ad.kernel private @two_rows(%a: tensor<301x32xf32>) -> tensor<301x32xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 16, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<301xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<301xf32>) -> tensor<301xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<301x32xf32>) outs(%f : tensor<301xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.addf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<301xf32>
  %w = tensor.empty() : tensor<301x32xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<301x32xf32>, tensor<301xf32>) outs(%w : tensor<301x32xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %t = arith.mulf %x, %sum : f32
    linalg.yield %t : f32
  } -> tensor<301x32xf32>
  ad.yield %r : tensor<301x32xf32>
}

// A row whose elements take long keeps the CPU busy by itself.
// CHECK-LABEL: func.func private @one_row
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : index
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %[[ONE]] {
// CHECK: vector.extract %{{.+}}[0] : f32 from vector<1xf32>
// CHECK-NOT: vector.extract %{{.+}}[0] : f32 from vector<1xf32>
// CHECK: return
ad.kernel private @one_row(%a: tensor<301x32xf32>) -> tensor<301x32xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 16, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<301xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<301xf32>) -> tensor<301xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<301x32xf32>) outs(%f : tensor<301xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.addf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<301xf32>
  %w = tensor.empty() : tensor<301x32xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<301x32xf32>, tensor<301xf32>) outs(%w : tensor<301x32xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %t = ad.elementary exp %x : f32
    %u = arith.mulf %t, %sum : f32
    linalg.yield %u : f32
  } -> tensor<301x32xf32>
  ad.yield %r : tensor<301x32xf32>
}

// Rows from beyond the caches: the last sum along a row prefetches the cache lines of its results, and the next row
// (1024 elements further), since it caches exponentials for the loop that stores.
// CHECK-LABEL: func.func private @large_rows_kept
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.store %{{.+}}, %{{.+}} : vector<16xf32>, !llvm.ptr
// CHECK: %[[LINE:.+]] = llvm.getelementptr %arg1
// CHECK: "llvm.intr.prefetch"(%[[LINE]]) <{cache = 1 : i32, hint = 3 : i32, rw = 1 : i32}>
// CHECK: %[[HERE:.+]] = llvm.getelementptr %arg0[%{{.+}}]
// CHECK: %[[NEXT:.+]] = llvm.getelementptr %[[HERE]][1024]
// CHECK: "llvm.intr.prefetch"(%[[NEXT]]) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK: arith.divf
// CHECK-NOT: llvm.intr.prefetch
// CHECK: return
ad.kernel private @large_rows_kept(%a: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 16, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<4096x1024xf32>
  %p = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4096x1024xf32>) outs(%w : tensor<4096x1024xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = ad.elementary exp %x : f32
    linalg.yield %t : f32
  } -> tensor<4096x1024xf32>
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<4096x1024xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.addf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%w : tensor<4096x1024xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %t = arith.divf %x, %sum : f32
    linalg.yield %t : f32
  } -> tensor<4096x1024xf32>
  ad.yield %r : tensor<4096x1024xf32>
}

// If no value is cached, the loop that stores prefetches the next row. A vector of f64 covers two cache lines.
// CHECK-LABEL: func.func private @large_rows
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: "llvm.intr.prefetch"(%{{.+}}) <{cache = 1 : i32, hint = 3 : i32, rw = 1 : i32}>
// CHECK-NOT: rw = 0
// CHECK: vector.extract %{{.+}}[0] : f64 from vector<1xf64>
// CHECK: "llvm.intr.prefetch"(%{{.+}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK-NOT: rw = 1
// CHECK: return
ad.kernel private @large_rows(%a: tensor<4096x1024xf64>) -> tensor<4096x1024xf64> attributes
    {kernel_class = "row", order = #ad.order<lanes = 16, chunk = 4096>} {
  %zero = arith.constant 0.0 : f64
  %w = tensor.empty() : tensor<4096x1024xf64>
  %e = tensor.empty() : tensor<4096xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<4096xf64>) -> tensor<4096xf64>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4096x1024xf64>) outs(%f : tensor<4096xf64>) {
  ^bb0(%x: f64, %out: f64):
    %t = arith.addf %out, %x : f64
    linalg.yield %t : f64
  } -> tensor<4096xf64>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4096x1024xf64>, tensor<4096xf64>) outs(%w : tensor<4096x1024xf64>) {
  ^bb0(%x: f64, %sum: f64, %out: f64):
    %t = arith.mulf %x, %sum : f64
    linalg.yield %t : f64
  } -> tensor<4096x1024xf64>
  ad.yield %r : tensor<4096x1024xf64>
}
