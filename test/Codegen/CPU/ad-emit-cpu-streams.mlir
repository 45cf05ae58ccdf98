// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-outline-kernels --ad-emit-cpu | FileCheck %s

// The kernels are in the reverse order of the functions.
// A transposition beyond the caches writes past them when its memory begins with a line, else through them.
// CHECK-LABEL: func.func private @movement_0_0(
// CHECK: %[[ADDRESS:.+]] = llvm.ptrtoint
// CHECK: %[[OFFSET:.+]] = llvm.and %[[ADDRESS]]
// CHECK: %[[ALIGNED:.+]] = llvm.icmp "eq" %[[OFFSET]]
// CHECK: scf.if %[[ALIGNED]] {
// CHECK-NOT: llvm.store {{.*}} {alignment = 4 : i64}
// CHECK: llvm.store {{.*}} {alignment = 64 : i64, nontemporal}
// CHECK: llvm.fence seq_cst
// CHECK-NEXT: } else {
// CHECK-NOT: nontemporal
// CHECK: llvm.store {{.*}} {alignment = 4 : i64}

// Rows of the result that are no whole lines go through the caches.
// CHECK-LABEL: func.func private @movement_0(
// CHECK-NOT: nontemporal
// CHECK-LABEL: func.func @other
func.func @other(%x: tensor<1001x1088xf32>) -> tensor<1088x1001xf32> {
  %0 = ad.transpose %x [1, 0] : tensor<1001x1088xf32>
  return %0 : tensor<1088x1001xf32>
}

func.func @main(%x: tensor<1088x1000xf32>) -> tensor<1000x1088xf32> {
  %0 = ad.transpose %x [1, 0] : tensor<1088x1000xf32>
  return %0 : tensor<1000x1088xf32>
}
