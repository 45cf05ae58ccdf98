// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK-DAG: scatter-class | Category:ad-gpu | begins=1, indexed-axes=0, kernel=runs
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=moving_bound

// A thread takes the run of its element, no more than there are updates: eight updates at once, and then one by one.
// CHECK-LABEL:   gpu.func @runs
// CHECK:           scf.for
// CHECK:             arith.maxsi
// CHECK:             arith.minsi
// CHECK:             scf.for {{.*}} step %[[EIGHT:c8.*]] iter_args
// CHECK-COUNT-8:       arith.addf
// CHECK:             scf.for {{.*}} step %[[ONE:c1.*]] iter_args
// CHECK:               arith.addf
// CHECK-NOT:           arith.addf
// CHECK:             llvm.store
ad.kernel private @runs(%x: tensor<100xf32>, %begins: tensor<101xi32>, %u: tensor<5000xf32>) -> tensor<100xf32>
    attributes {kernel_class = "scatter"} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%u : tensor<5000xf32>) outs(%x : tensor<100xf32>) {
  ^bb0(%new: f32, %old: f32):
    %row = linalg.index 0 : index
    %step = linalg.index 1 : index
    %one = arith.constant 1 : index
    %next = arith.addi %row, %one : index
    %b = tensor.extract %begins[%row] : tensor<101xi32>
    %begin = arith.index_cast %b : i32 to index
    %e = tensor.extract %begins[%next] : tensor<101xi32>
    %end = arith.index_cast %e : i32 to index
    %after = arith.cmpi sge, %step, %begin : index
    %before = arith.cmpi slt, %step, %end : index
    %own = arith.andi %after, %before : i1
    %sum = arith.addf %old, %new : f32
    %y = arith.select %own, %sum, %old : f32
    linalg.yield %y : f32
  } -> tensor<100xf32>
  ad.yield %r : tensor<100xf32>
}

// Where a run ends is another number in each iteration.
ad.kernel private @moving_bound(%x: tensor<100xf32>, %ends: tensor<5000xi64>, %u: tensor<5000xf32>) -> tensor<100xf32>
    attributes {kernel_class = "scatter"} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%u, %ends : tensor<5000xf32>, tensor<5000xi64>) outs(%x : tensor<100xf32>) {
  ^bb0(%new: f32, %e: i64, %old: f32):
    %end = arith.index_cast %e : i64 to index
    %row = linalg.index 0 : index
    %step = linalg.index 1 : index
    %after = arith.cmpi sge, %step, %row : index
    %before = arith.cmpi slt, %step, %end : index
    %own = arith.andi %after, %before : i1
    %sum = arith.addf %old, %new : f32
    %y = arith.select %own, %sum, %old : f32
    linalg.yield %y : f32
  } -> tensor<100xf32>
  ad.yield %r : tensor<100xf32>
}
