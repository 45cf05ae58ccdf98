// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-lower-to-emulator | FileCheck %s

// A kernel becomes host functions without address spaces, whose first argument is the running thread.

// Shared memory: the static variables in order, at their alignment; dynamic shared memory begins after them, at its own alignment.
// CHECK-NOT: gpu.module
// CHECK-NOT: addr_space = 3
gpu.module @m {
  llvm.mlir.global internal @first() {addr_space = 3 : i32} : !llvm.array<3 x f32>
  llvm.mlir.global internal @second() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<4 x f32>
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global internal constant @table(dense<[1.0, 2.0]> : tensor<2xf32>) {addr_space = 4 : i32} : !llvm.array<2 x f32>

  // CHECK-LABEL: llvm.func internal @adsim_body_m_k
  // CHECK-SAME: (%[[SELF:.+]]: !llvm.ptr, %[[X:.+]]: !llvm.ptr, %[[MAP:.+]]: !llvm.ptr, %[[N:.+]]: i32)
  llvm.func @k(%x: !llvm.ptr<1>, %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %n: i32)
      attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    // Special registers are loads from the thread.
    // CHECK: %[[AT:.+]] = llvm.getelementptr %[[SELF]][0] : (!llvm.ptr) -> !llvm.ptr, i32
    // CHECK: %[[TID:.+]] = llvm.load %[[AT]] invariant {alignment = 4 : i64}
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: %[[SECOND:.+]] = llvm.mlir.constant(64 : i64)
    // CHECK: llvm.getelementptr %{{.+}}[%[[SECOND]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %second = llvm.mlir.addressof @second : !llvm.ptr<3>
    // CHECK: %[[DYNAMIC:.+]] = llvm.mlir.constant(128 : i64)
    // CHECK: llvm.getelementptr %{{.+}}[%[[DYNAMIC]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %dynamic = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    // A check precedes each access. Its operands are the bytes, and the flags: space, direction and alignment.
    // CHECK: %[[FROM:.+]] = llvm.getelementptr %[[X]][%[[TID]]]
    // CHECK: %[[BYTES:.+]] = llvm.mlir.constant(16 : i64)
    // CHECK: %[[FLAGS:.+]] = llvm.mlir.constant(1025 : i32)
    // CHECK: llvm.call @adsim_access(%[[SELF]], %[[FROM]], %[[BYTES]], %[[FLAGS]], %{{.+}})
    // CHECK: llvm.load %[[FROM]]
    %from = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    // CHECK: llvm.mlir.constant(1030 : i32)
    // CHECK: llvm.call @adsim_access
    // CHECK: llvm.store
    llvm.store %v, %second {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
    // CHECK: llvm.call @adsim_barrier
    nvvm.barrier0
    // A divisor is checked unless it is a constant.
    // CHECK: llvm.call @adsim_divisor
    // CHECK: llvm.udiv
    %q = llvm.udiv %tid, %n : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    // CHECK-NOT: llvm.call @adsim_divisor
    // CHECK: llvm.urem
    %r = llvm.urem %tid, %seven : i32
    // Fast-math flags are removed, so that the host does not contract operations that the program rounds twice.
    // CHECK: llvm.fmul %{{.+}}, %{{.+}} : vector<4xf32>
    %f = llvm.fmul %v, %v {fastmathFlags = #llvm.fastmath<contract>} : vector<4xf32>
    // CHECK: llvm.intr.fma(
    %g = llvm.intr.fmuladd(%f, %v, %v) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    // bf16 is rounded by integer arithmetic.
    // CHECK-NOT: llvm.fptrunc
    // CHECK: llvm.lshr
    %h = llvm.fptrunc %g : vector<4xf32> to vector<4xbf16>
    // CHECK: llvm.call @adsim_body_m_helper(%[[SELF]], %{{.+}}) : (!llvm.ptr, vector<4xbf16>) -> ()
    llvm.call @helper(%h) : (vector<4xbf16>) -> ()
    llvm.return
  }
  // Accesses to local memory are not checked.
  // CHECK-LABEL: llvm.func internal @adsim_body_m_helper
  // CHECK-NOT: adsim_access
  // CHECK: llvm.return
  llvm.func internal @helper(%h: vector<4xbf16>) {
    %one = llvm.mlir.constant(1 : i32) : i32
    %slot = llvm.alloca %one x vector<4xbf16> : (i32) -> !llvm.ptr
    llvm.store %h, %slot : vector<4xbf16>, !llvm.ptr
    llvm.return
  }
}

// The entry copies by-value parameters, as a launch does.
// CHECK-LABEL: llvm.func @adsim_kernel_k(%{{.+}}: !llvm.ptr)
// CHECK: %[[THREAD:.+]] = llvm.call @adsim_self()
// CHECK: %[[COPY:.+]] = llvm.alloca %{{.+}} x !llvm.array<128 x i8> {alignment = 64 : i64}
// CHECK: "llvm.intr.memcpy"(%[[COPY]]
// CHECK: llvm.call @adsim_body_m_k(%[[THREAD]], %{{.+}}, %[[COPY]], %{{.+}})

// Then the texts and offsets of the sites, the memory of the module, and the description of the kernel.
// CHECK: llvm.mlir.global internal constant @adsim_site_text
// CHECK: llvm.mlir.global internal constant @adsim_site_offsets
// CHECK: llvm.mlir.global internal constant @adsim_memory_k
// CHECK: llvm.mlir.global external constant @adsim_code_k
