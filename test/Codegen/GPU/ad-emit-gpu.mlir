// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Every kernel says which class it takes, and why it takes the one that covers all.
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=sum, reason="no other class covers it"
// REMARK-DAG: generic-class | Category:ad-gpu | kernel=pad, reason="no other class covers it"

// What the host program launches.
// CHECK: func.func private @sum(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<warp, axes = 1>}
// CHECK: func.func private @pad(!llvm.ptr, index, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1>}
// CHECK: gpu.module @ad_kernels

// A warp takes a row of 64 lanes: each of its threads sums two, joins them, and then half, a quarter, … of the others' sums; one
// thread stores when all have read.
// CHECK-LABEL: gpu.func @sum
// CHECK: scf.for
// CHECK: %[[LOW:.+]] = scf.for {{.+}} step %c64
// CHECK: %[[HIGH:.+]] = scf.for {{.+}} step %c64
// CHECK: %[[BOTH:.+]] = arith.addf %[[LOW]], %[[HIGH]]
// CHECK: gpu.shuffle xor %{{.+}}, %c16_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c8_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c4_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c2_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK: llvm.store
// CHECK-NOT: llvm.store
ad.kernel private @sum(%a: tensor<4x200xf32>) -> tensor<4xf32> attributes
    {kernel_class = "generic", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x200xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// What is inserted into something that the kernel makes: each element finds out where it comes from, so that no thread writes over
// what another one has written.
// CHECK-LABEL: gpu.func @pad
// CHECK: scf.for
// CHECK: %[[VALUE:.+]] = scf.if {{.+}} -> (f32)
// CHECK: llvm.load
// CHECK: else
// CHECK-NOT: llvm.load
// CHECK: llvm.store %[[VALUE]]
// CHECK-NOT: llvm.store
// CHECK: gpu.return
ad.kernel private @pad(%a: tensor<?xf32>) -> tensor<?xf32> attributes {kernel_class = "generic"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %m = arith.addi %n, %c5 : index
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.insert_slice %a into %f[2] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  ad.yield %r : tensor<?xf32>
}

// Where slices begin and end at multiples of 16 bytes, a per-thread vector is within one of them, and one branch loads all of it.
// CHECK-LABEL: gpu.func @concat
// CHECK: scf.for
// CHECK: %[[VALUES:.+]]:4 = scf.if {{.+}} -> (f32, f32, f32, f32)
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: else
// CHECK: scf.if {{.+}} -> (f32, f32, f32, f32)
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.insertelement %[[VALUES]]#0
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
// CHECK-NOT: llvm.store
// CHECK: gpu.return
ad.kernel private @concat(%a: tensor<5x8xf32>, %b: tensor<5x12xf32>) -> tensor<5x20xf32>
    attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<5x20xf32>
  %l = tensor.insert_slice %a into %e[0, 0] [5, 8] [1, 1] : tensor<5x8xf32> into tensor<5x20xf32>
  %r = tensor.insert_slice %b into %l[0, 8] [5, 12] [1, 1] : tensor<5x12xf32> into tensor<5x20xf32>
  ad.yield %r : tensor<5x20xf32>
}
