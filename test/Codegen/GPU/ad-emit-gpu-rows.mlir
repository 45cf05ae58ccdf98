// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Barriers order accesses to shared memory: none is volatile.
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s --implicit-check-not=volatile
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#line = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// REMARK-DAG: row-class | Category:ad-gpu | kernel=sum
// REMARK-DAG: row-class | Category:ad-gpu | kernel=centre
// REMARK-DAG: row-class | Category:ad-gpu | kernel=short
// REMARK-DAG: row-class | Category:ad-gpu | kernel=many
// REMARK-DAG: row-class | Category:ad-gpu | kernel=long
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=twice, reason="it sums along a row what is a sum itself"
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=blocks, reason="it sums nothing over lanes"
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=part, reason="its rows are not what it sums"
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=different, reason="its sums have different lengths"

// 64 lanes are 16 threads with four adjacent lanes each, so that a warp has two rows; 256 elements take a block.
// CHECK: func.func private @sum(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 16>}
// Few short rows have a thread for each element, many have one for four vectors.
// CHECK: func.func private @short(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 16>}
// CHECK: func.func private @many(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 2>}
// CHECK: func.func private @long(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 0>}
// CHECK: gpu.module @ad_kernels

// The chains of adjacent lanes are apart until the threads have joined: 32 lanes are half a tree away in this thread's second
// vector (there is none), 16 and 8 and 4 by shuffles of 8, 4, 2 and 1 threads, the last two in the thread.
// CHECK-LABEL: gpu.func @sum
// CHECK-COUNT-4: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: gpu.shuffle xor %{{.+}}, %c8_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c4_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c2_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK-NOT: gpu.shuffle xor %{{.+}}, %c16_i32
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK: llvm.store
// CHECK-NOT: llvm.store
// CHECK: gpu.return
ad.kernel private @sum(%a: tensor<16384x256xf32>) -> tensor<16384xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16384xf32>) -> tensor<16384xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<16384x256xf32>) outs(%f : tensor<16384xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<16384xf32>
  ad.yield %r : tensor<16384xf32>
}

// A row that fits into the registers of its threads is read once for all that is computed of it.
// CHECK-LABEL: gpu.func @centre
// CHECK-COUNT-2: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: gpu.shuffle
// CHECK: nvvm.bar.warp.sync
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT: llvm.store
// CHECK: gpu.return
ad.kernel private @centre(%a: tensor<16384x128xf32>) -> tensor<16384x128xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16384xf32>) -> tensor<16384xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<16384x128xf32>) outs(%f : tensor<16384xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<16384xf32>
  %g = tensor.empty() : tensor<16384x128xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<16384x128xf32>, tensor<16384xf32>) outs(%g : tensor<16384x128xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %0 = arith.subf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<16384x128xf32>
  ad.yield %r : tensor<16384x128xf32>
}

// Ten elements are those of ten threads of sixteen; the other lanes have none, and take part in no join.
// CHECK-LABEL: gpu.func @short
// CHECK: arith.select
// CHECK: gpu.shuffle xor %{{.+}}, %c8_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c4_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK: gpu.return
ad.kernel private @short(%a: tensor<40x10xf32>) -> tensor<40xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<40x10xf32>) outs(%f : tensor<40xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<40xf32>
  ad.yield %r : tensor<40xf32>
}

// The lanes of a thread are joined in the thread, and two threads by one shuffle.
// CHECK-LABEL: gpu.func @many
// CHECK-NOT: gpu.shuffle xor %{{.+}}, %c{{2|4|8}}_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK-NOT: gpu.shuffle xor %{{.+}}, %c{{2|4|8}}_i32
// CHECK: gpu.return
ad.kernel private @many(%a: tensor<65536x10xf32>) -> tensor<65536xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<65536xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<65536xf32>) -> tensor<65536xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<65536x10xf32>) outs(%f : tensor<65536xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<65536xf32>
  ad.yield %r : tensor<65536xf32>
}

// A block sums the chunks of a long row, each by a group, and joins them in shared memory. Its threads are few: each loads eight
// vectors before it adds the first one.
// CHECK-LABEL: gpu.func @long
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: arith.addf
// CHECK-COUNT-8: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr -> vector<2xf32>
// CHECK-COUNT-16: arith.addf
// CHECK: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr -> vector<2xf32>
// CHECK: gpu.shuffle
// CHECK: llvm.store %{{.+}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load %{{.+}} : !llvm.ptr<3> -> f32
// CHECK: gpu.return
ad.kernel private @long(%a: tensor<9000xf32>) -> tensor<f32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#line, #none], iterator_types = ["reduction"]}
      ins(%a : tensor<9000xf32>) outs(%f : tensor<f32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  ad.yield %r : tensor<f32>
}

ad.kernel private @twice(%a: tensor<4x4xf32>) -> tensor<f32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %g = tensor.empty() : tensor<f32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<f32>) -> tensor<f32>
  %p = linalg.generic {indexing_maps = [#line, #none], iterator_types = ["reduction"]}
      ins(%s : tensor<4xf32>) outs(%h : tensor<f32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  ad.yield %p : tensor<f32>
}

ad.kernel private @blocks(%a: tensor<4x8xf32>) -> tensor<4xf32> attributes
    {kernel_class = "row", order = #ad.order<block = 4>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  ad.yield %s : tensor<4xf32>
}

ad.kernel private @part(%a: tensor<4x8xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %g = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%b, %s : tensor<4x4xf32>, tensor<4xf32>) outs(%g : tensor<4x4xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %0 = arith.subf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<4x4xf32>
  ad.yield %r : tensor<4x4xf32>
}

ad.kernel private @different(%a: tensor<4x8xf32>, %b: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<4x4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  ad.yield %s, %t : tensor<4xf32>, tensor<4xf32>
}
