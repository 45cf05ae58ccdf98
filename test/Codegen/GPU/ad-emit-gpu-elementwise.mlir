// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#identity = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>

// Two tensors of 80 elements of 4 bytes, and a product for each; sizes that are open have no cost.
// REMARK-DAG: elementwise-class | Category:ad-gpu | kernel=flat, work="640 bytes, 80 operations"
// REMARK-DAG: elementwise-class | Category:ad-gpu | kernel=rest, work="168 bytes, 21 operations"
// REMARK-DAG: elementwise-class | Category:ad-gpu | kernel=broadcast
// REMARK-DAG: elementwise-class | Category:ad-gpu | kernel=odd
// REMARK-DAG: elementwise-class | Category:ad-gpu | kernel=mixed
// REMARK-DAG: elementwise-class | Category:ad-gpu | kernel=open{{$}}

// A thread takes four elements of 32 bits, the next thread the next four: the grid is a quarter of the elements.
// CHECK: func.func private @flat(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 2, elements = 4>}
// CHECK: gpu.module @ad_kernels

// CHECK-LABEL: gpu.func @flat
// CHECK-SAME: kernel attributes {adrt.class = "elementwise", nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 2 : i32}
// CHECK: %[[GRID:.+]] = arith.index_castui %{{grid_dim.*}} : index to i32
// CHECK: %[[THREAD:.+]] = arith.addi
// CHECK: %[[THREADS:.+]] = arith.muli %[[GRID]], %{{.+}} : i32
// CHECK: scf.for %[[I:.+]] = %[[THREAD]] to %c20{{.*}} step %[[THREADS]]
// CHECK: arith.muli %[[I]], %c4
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.mulf %{{.+}} : f32
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT: scf.for
ad.kernel private @flat(%a: tensor<4x20xf32>) -> tensor<4x20xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4x20xf32>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x20xf32>) outs(%e : tensor<4x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<4x20xf32>
  ad.yield %r : tensor<4x20xf32>
}

// 21 elements are five runs and one more.
// CHECK-LABEL: gpu.func @rest
// CHECK: scf.for {{.+}} to %c5
// CHECK: llvm.load %{{.+}} -> vector<4xf32>
// CHECK: llvm.store %{{.+}} : vector<4xf32>
// CHECK: scf.for {{.+}} to %c21
// CHECK: llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: llvm.store %{{.+}} {alignment = 4 : i64} : f32
ad.kernel private @rest(%a: tensor<3x7xf32>) -> tensor<3x7xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<3x7xf32>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3x7xf32>) outs(%e : tensor<3x7xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<3x7xf32>
  ad.yield %r : tensor<3x7xf32>
}

// A row along the run is read like the tensor itself, a value for the whole row once.
// CHECK-LABEL: gpu.func @broadcast
// CHECK: llvm.load %{{.+}} -> vector<4xf32>
// CHECK: llvm.load %{{.+}} -> vector<4xf32>
// CHECK: llvm.load %{{.+}} -> f32
// CHECK-NOT: llvm.load
// CHECK: llvm.store %{{.+}} : vector<4xf32>
ad.kernel private @broadcast(%a: tensor<4x20xf32>, %b: tensor<20xf32>, %c: tensor<4x1xf32>) -> tensor<4x20xf32>
    attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4x20xf32>
  %r = linalg.generic {indexing_maps = [#identity, #column, #first, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<4x20xf32>, tensor<20xf32>, tensor<4x1xf32>) outs(%e : tensor<4x20xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.mulf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<4x20xf32>
  ad.yield %r : tensor<4x20xf32>
}

// Rows of 18 elements begin at multiples of eight bytes.
// CHECK-LABEL: gpu.func @odd
// CHECK: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr -> vector<2xf32>
// CHECK: llvm.store %{{.+}} {alignment = 8 : i64} : vector<2xf32>
ad.kernel private @odd(%a: tensor<4x18xf32>, %b: tensor<18xf32>) -> tensor<4x18xf32>
    attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4x18xf32>
  %r = linalg.generic {indexing_maps = [#identity, #column, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x18xf32>, tensor<18xf32>) outs(%e : tensor<4x18xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x18xf32>
  ad.yield %r : tensor<4x18xf32>
}

// The widest type decides: every access is coalesced, none is beyond 16 bytes.
// CHECK-LABEL: gpu.func @mixed
// CHECK: llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xi8>
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>
ad.kernel private @mixed(%a: tensor<8xi8>) -> tensor<8xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xi8>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: i8, %out: f32):
    %s = arith.sitofp %x : i8 to f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  ad.yield %r : tensor<8xf32>
}

// With dynamic sizes, the kernel checks whether rows are whole numbers of per-thread vectors.
// CHECK-LABEL: gpu.func @open
// CHECK-NOT: llvm.ptrtoint
// CHECK: arith.remui %arg2, %
// CHECK: scf.if
// CHECK: llvm.load %{{.+}} -> vector<2xf64>
// CHECK: llvm.store %{{.+}} : vector<2xf64>
// CHECK: else
// CHECK: llvm.load %{{.+}} -> f64
// CHECK: llvm.store %{{.+}} : f64
ad.kernel private @open(%a: tensor<?x?xf64>, %b: tensor<?xf64>) -> tensor<?x?xf64>
    attributes {kernel_class = "elementwise"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [#identity, #column, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf64>, tensor<?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%x: f64, %y: f64, %out: f64):
    %s = arith.addf %x, %y : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  ad.yield %r : tensor<?x?xf64>
}
