// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows that are too long for the registers of a block: it loads one into shared memory, where both passes read it.
//
// RUN: ad-opt %s --ad-emit-gpu=chip=sm_90a | FileCheck %s

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK: func.func private @centre(!llvm.ptr, !llvm.ptr)
// CHECK-SAME: #ad.launch_config<block, axes = 1, threads_per_block = 512, dynamic_shared_bytes = 200000>
// CHECK-LABEL: gpu.func @centre
// The row before has been read by all.
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: gpu.barrier
// The sum and the differences.
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: gpu.shuffle
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
// CHECK-NOT: llvm.load %{{.+}} : !llvm.ptr ->
// CHECK: gpu.return
ad.kernel private @centre(%a: tensor<4096x50000xf32>) -> tensor<4096x50000xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4096x50000xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  %g = tensor.empty() : tensor<4096x50000xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4096x50000xf32>, tensor<4096xf32>) outs(%g : tensor<4096x50000xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %0 = arith.subf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<4096x50000xf32>
  ad.yield %r : tensor<4096x50000xf32>
}
