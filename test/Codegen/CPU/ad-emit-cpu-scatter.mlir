// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu=vector-bytes=32 | FileCheck %s

// A scatter in linalg looks for the updates of each element; its code goes through the updates instead.

// The result has the elements of %x already. One loop over all indices, and one over the columns of a row, in vectors.
// CHECK-LABEL: func.func private @rows(
// CHECK-NOT:   scf.for
// CHECK:       scf.for %[[N:.+]] = %{{.+}} to %c5000{{.*}} step
// CHECK:         %[[INDEX:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i32
// CHECK:         %[[ROW:.+]] = arith.index_cast %[[INDEX]] : i32 to index
// CHECK:         arith.cmpi ult
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK-DAG:         %[[OLD:.+]] = llvm.load %{{.+}} : !llvm.ptr -> vector<8xf32>
// CHECK-DAG:         %[[NEW:.+]] = llvm.load %{{.+}} : !llvm.ptr -> vector<8xf32>
// CHECK:             arith.addf
// CHECK:             llvm.store %{{.+}} : vector<8xf32>, !llvm.ptr
// CHECK-NOT:   arith.select
// CHECK:       return
ad.kernel private @rows(%x: tensor<1000x64xf32>, %i: tensor<5000xi32>, %u: tensor<5000x64xf32>) -> tensor<1000x64xf32>
    attributes {kernel_class = "scatter"} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%i, %u : tensor<5000xi32>, tensor<5000x64xf32>) outs(%x : tensor<1000x64xf32>) {
  ^bb0(%index: i32, %new: f32, %old: f32):
    %row = linalg.index 0 : index
    %own = arith.index_cast %index : i32 to index
    %sum = arith.addf %old, %new : f32
    %hits = arith.cmpi eq, %row, %own : index
    %y = arith.select %hits, %sum, %old : f32
    linalg.yield %y : f32
  } -> tensor<1000x64xf32>
  ad.yield %r : tensor<1000x64xf32>
}

// Zeros are written first, a range of rows that stays in the cache at a time.
// CHECK-LABEL: func.func private @from_zeros(
// CHECK:       scf.for %[[LOWER:.+]] = %{{.+}} to %{{.+}} step %c{{.+}} {
// CHECK:         scf.for %{{.+}} = %[[LOWER]]
// CHECK:           llvm.store %{{.+}} : vector<8xf32>, !llvm.ptr
// CHECK:         scf.for %{{.+}} to %c64{{.*}} step
// CHECK:           arith.cmpi ult
// CHECK:       return
ad.kernel private @from_zeros(%i: tensor<64xi32>, %u: tensor<64x512xf32>) -> tensor<20000x512xf32>
    attributes {kernel_class = "scatter"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20000x512xf32>
  %x = linalg.fill ins(%zero : f32) outs(%e : tensor<20000x512xf32>) -> tensor<20000x512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%i, %u : tensor<64xi32>, tensor<64x512xf32>) outs(%x : tensor<20000x512xf32>) {
  ^bb0(%index: i32, %new: f32, %old: f32):
    %row = linalg.index 0 : index
    %own = arith.index_cast %index : i32 to index
    %hits = arith.cmpi eq, %own, %row : index
    %y = arith.select %hits, %new, %old : f32
    linalg.yield %y : f32
  } -> tensor<20000x512xf32>
  ad.yield %r : tensor<20000x512xf32>
}

// What an update is depends on the element that is searched: no iteration knows it before.
// CHECK-LABEL: func.func private @not_a_scatter(
// CHECK:       arith.select
// CHECK:       return
ad.kernel private @not_a_scatter(%x: tensor<1000xf32>, %i: tensor<5000xi32>, %u: tensor<1000xf32>) -> tensor<1000xf32>
    attributes {kernel_class = "scatter"} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>,
                                        affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%i, %u : tensor<5000xi32>, tensor<1000xf32>) outs(%x : tensor<1000xf32>) {
  ^bb0(%index: i32, %new: f32, %old: f32):
    %row = linalg.index 0 : index
    %own = arith.index_cast %index : i32 to index
    %sum = arith.addf %old, %new : f32
    %hits = arith.cmpi eq, %own, %row : index
    %y = arith.select %hits, %sum, %old : f32
    linalg.yield %y : f32
  } -> tensor<1000xf32>
  ad.yield %r : tensor<1000xf32>
}
