// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows that are too long for the registers of a group stay in those of a block. Its threads exchange the terms of a sum
// in shared memory; a maximum needs one value of each warp.
//
// RUN: ad-opt %s --ad-emit-gpu | FileCheck %s

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK: func.func private @centre(!llvm.ptr, !llvm.ptr)
// CHECK-SAME: #ad.launch_config<block, axes = 1, dynamic_shared_bytes = 32800>
// CHECK: func.func private @below(!llvm.ptr, !llvm.ptr)
// CHECK-NOT: dynamic_shared_bytes
// CHECK-LABEL: gpu.func @centre
// CHECK: scf.for
// 8200 elements are nine vectors of 256 threads, the last of which few have.
// CHECK-COUNT-9: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: llvm.load %{{.+}} : !llvm.ptr ->
// The last one is another thread's where the row ends before it.
// CHECK-COUNT-8: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: scf.if
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: gpu.barrier
// The thread of four lanes reads the terms that others have stored.
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: arith.addf
// CHECK: gpu.shuffle
// CHECK: gpu.barrier
// CHECK-NOT: llvm.load %{{.+}} : !llvm.ptr ->
// CHECK-COUNT-9: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
// CHECK: gpu.return
ad.kernel private @centre(%a: tensor<4096x8200xf32>) -> tensor<4096x8200xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4096x8200xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  %g = tensor.empty() : tensor<4096x8200xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4096x8200xf32>, tensor<4096xf32>) outs(%g : tensor<4096x8200xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %0 = arith.subf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<4096x8200xf32>
  ad.yield %r : tensor<4096x8200xf32>
}

// Its order is free: no term is exchanged.
// CHECK-LABEL: gpu.func @below
// CHECK-COUNT-8: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: llvm.store
// CHECK: arith.maximumf
// CHECK: gpu.shuffle xor %{{.+}}, %c16_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK: gpu.barrier
// CHECK: llvm.store %{{.+}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load %{{.+}} : !llvm.ptr<3> -> f32
// Eight warps join.
// CHECK: gpu.shuffle xor %{{.+}}, %c4_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
ad.kernel private @below(%a: tensor<4096x8192xf32>) -> tensor<4096x8192xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4096x8192xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  %g = tensor.empty() : tensor<4096x8192xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4096x8192xf32>, tensor<4096xf32>) outs(%g : tensor<4096x8192xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %0 = arith.subf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<4096x8192xf32>
  ad.yield %r : tensor<4096x8192xf32>
}
