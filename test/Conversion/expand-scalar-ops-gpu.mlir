// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Whether an argument of a vector is rare: on GPUs conditions are joined one by one, as each has a register.
//
// RUN: ad-opt %s --ad-expand-scalar-ops | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @on_gpu
  // CHECK-NOT: vector.reduction
  // CHECK-COUNT-3: arith.ori %{{.+}}, %{{.+}} : i1
  // CHECK: scf.if
  // CHECK: gpu.return
  gpu.func @on_gpu(%x: vector<4xf32>, %p: !llvm.ptr) kernel {
    %0 = ad.elementary sigmoid %x : vector<4xf32>
    llvm.store %0, %p : vector<4xf32>, !llvm.ptr
    gpu.return
  }
}

// CHECK-LABEL: func.func @on_cpu
// CHECK: vector.reduction <or>
func.func @on_cpu(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = ad.elementary sigmoid %x : vector<4xf32>
  return %0 : vector<4xf32>
}
