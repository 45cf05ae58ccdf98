// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-lower-to-emulator | FileCheck %s

// A variable that only one kernel uses takes no memory in other kernels: its static variables begin at 0, dynamic memory after them.
gpu.module @m {
  llvm.mlir.global internal @of_first() {addr_space = 3 : i32} : !llvm.array<200 x i8>
  llvm.mlir.global internal @of_second() {addr_space = 3 : i32} : !llvm.array<16 x i8>
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // CHECK-LABEL: llvm.func internal @adsim_body_m_first
  // CHECK: %[[START:.+]] = llvm.mlir.constant(0 : i64)
  // CHECK: llvm.getelementptr %{{.+}}[%[[START]]]
  llvm.func @first() attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %mine = llvm.mlir.addressof @of_first : !llvm.ptr<3>
    llvm.store %one, %mine : i32, !llvm.ptr<3>
    llvm.return
  }

  // CHECK-LABEL: llvm.func internal @adsim_body_m_second
  // CHECK: %[[START:.+]] = llvm.mlir.constant(0 : i64)
  // CHECK: llvm.getelementptr %{{.+}}[%[[START]]]
  // CHECK: %[[NEXT:.+]] = llvm.mlir.constant(1024 : i64)
  // CHECK: llvm.getelementptr %{{.+}}[%[[NEXT]]]
  llvm.func @second() attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %mine = llvm.mlir.addressof @of_second : !llvm.ptr<3>
    llvm.store %one, %mine : i32, !llvm.ptr<3>
    %dynamic = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    llvm.store %one, %dynamic : i32, !llvm.ptr<3>
    llvm.return
  }

  // Bytes of static shared memory.
  // CHECK: llvm.mlir.global {{.*}}@adsim_code_first
  // CHECK: llvm.mlir.constant(200 : i32)
  // CHECK: llvm.mlir.global {{.*}}@adsim_code_second
  // CHECK: llvm.mlir.constant(1024 : i32)
}
