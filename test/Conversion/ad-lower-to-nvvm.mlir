// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-lower-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// Sizes are 64 bits wide, and what has one right answer is LLVM's: no function of a library.
// CHECK-LABEL: gpu.module @kernels
// CHECK: llvm.func @k(%{{.+}}: !llvm.ptr, %{{.+}}: i64) attributes {
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.maxntid = array<i32: 256>
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.intr.fma
// CHECK: llvm.intr.sqrt
// CHECK: nvvm.shfl.sync
// CHECK: llvm.intr.bitreverse
// CHECK-NOT: __nv_
gpu.module @kernels {
  gpu.func @k(%y: !llvm.ptr, %n: index) kernel attributes {nvvm.maxntid = array<i32: 256>} {
    %thread = gpu.thread_id x
    %inside = arith.cmpi ult, %thread, %n : index
    cf.cond_br %inside, ^bb1, ^bb2
  ^bb1:
    %i = arith.index_cast %thread : index to i64
    %p = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %p : !llvm.ptr -> f32
    %f = math.fma %x, %x, %x : f32
    %s = math.sqrt %f : f32
    %one = arith.constant 1 : i32
    %all = arith.constant 32 : i32
    %bits = arith.bitcast %s : f32 to i32
    %other, %valid = gpu.shuffle xor %bits, %one, %all : i32
    %r = llvm.intr.bitreverse(%other) : (i32) -> i32
    llvm.store %r, %p : i32, !llvm.ptr
    cf.br ^bb2
  ^bb2:
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k(%y: !llvm.ptr) kernel {
    %x = llvm.load %y : !llvm.ptr -> f32
    // expected-error @+1 {{needs '__nv_fmodf' of a library whose bits are its own; run ad-expand-scalar-ops first}}
    %r = arith.remf %x, %x : f32
    llvm.store %r, %y : f32, !llvm.ptr
    gpu.return
  }
}

// -----

// LLVM's optimizer is not to look through extensions: it would lose the sign of a zero (FenceExtensions.h).
gpu.module @extensions {
  // CHECK-LABEL: llvm.func @wide(
  // CHECK: %[[WIDE:.+]] = llvm.fpext %{{.+}} : f32 to f64
  // CHECK-NEXT: %[[FENCED:.+]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[WIDE]]) : (f64) -> f64
  // CHECK: llvm.store %[[FENCED]],
  gpu.func @wide(%y: !llvm.ptr) kernel {
    %x = llvm.load %y : !llvm.ptr -> f32
    %wide = arith.extf %x : f32 to f64
    llvm.store %wide, %y : f64, !llvm.ptr
    gpu.return
  }
}

// -----

// Operations on indices that another compiler writes.
// CHECK-LABEL: llvm.func @indices(
// CHECK: llvm.add %{{.+}}, %{{.+}} : i64
// CHECK-NOT: index.
gpu.module @of_others {
  gpu.func @indices(%y: !llvm.ptr, %n: index) kernel attributes {nvvm.maxntid = array<i32: 256>} {
    %sum = index.add %n, %n
    %i = arith.index_cast %sum : index to i64
    llvm.store %i, %y : i64, !llvm.ptr
    gpu.return
  }
}
