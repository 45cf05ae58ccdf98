// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu | FileCheck %s -enable-var-scope

// Rows of an odd number of 16-bit elements begin at any byte. The chunks around them are copied as they lie, none of
// their bytes that is not in the row. Before a K tile is multiplied, its rows are shifted into place.
// CHECK-LABEL: gpu.func @dot_0
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group
// CHECK-NEXT: gpu.barrier
// CHECK: arith.maxsi
// CHECK: nvvm.cp.async.shared.global {{.+}}, 16, cache = cg, %{{.+}} :
// CHECK: nvvm.cp.async.commit.group
// CHECK: llvm.load {{.+}} -> vector<4xi32>
// CHECK: llvm.intr.fshr
// CHECK: llvm.store {{.+}} : vector<4xi32>
// CHECK: gpu.barrier
// CHECK: nvvm.ldmatrix
func.func @shifted(%a: tensor<100x97xbf16>, %b: tensor<97x131xbf16>) -> tensor<100x131xbf16> {
  %0 = ad.dot %a, %b : (tensor<100x97xbf16>, tensor<97x131xbf16>) -> tensor<100x131xbf16>
  return %0 : tensor<100x131xbf16>
}

// -----

// Rows of a multiple of 8 and of 4 bytes are copied in such pieces.
// CHECK-LABEL: gpu.func @dot_0
// CHECK-NOT: llvm.intr.fshr
// CHECK: nvvm.cp.async.shared.global {{.+}}, 8, cache = ca,
// CHECK: nvvm.cp.async.shared.global {{.+}}, 4, cache = ca,
// CHECK-NOT: llvm.intr.fshr
// CHECK: nvvm.ldmatrix
func.func @pieces(%a: tensor<100x100xbf16>, %b: tensor<100x130xbf16>) -> tensor<100x130xbf16> {
  %0 = ad.dot %a, %b : (tensor<100x100xbf16>, tensor<100x130xbf16>) -> tensor<100x130xbf16>
  return %0 : tensor<100x130xbf16>
}

// -----

// The kernel decides where the length is dynamic: whole chunks are copied, else elements pass through registers.
// CHECK-LABEL: gpu.func @dot_0
// CHECK: %[[REST:.+]] = arith.remui
// CHECK: scf.if
// CHECK: nvvm.cp.async.shared.global {{.+}}, 16, cache = cg,
// CHECK: else
// CHECK: llvm.load %{{.+}} {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK: llvm.store
// CHECK-NOT: llvm.intr.fshr
func.func @dynamic(%a: tensor<100x96xbf16>, %b: tensor<96x?xbf16>) -> tensor<100x?xbf16> {
  %0 = ad.dot %a, %b : (tensor<100x96xbf16>, tensor<96x?xbf16>) -> tensor<100x?xbf16>
  return %0 : tensor<100x?xbf16>
}
