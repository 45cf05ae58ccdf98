// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-lower-to-llvm | FileCheck %s

// Functions, branches, vectors and scalars of one kernel, in one walk.
// CHECK-LABEL: llvm.func @sum(
// CHECK-SAME: %[[DATA:.+]]: !llvm.ptr, %[[COUNT:.+]]: i64) -> f32
// CHECK: llvm.icmp "slt" %{{.+}}, %[[COUNT]] : i64
// CHECK: llvm.cond_br
// CHECK: llvm.fadd %{{.+}}, %{{.+}} : vector<4xf32>
// CHECK: llvm.extractelement
// CHECK-NOT: {{arith|vector|func|cf}}.
// CHECK: llvm.return %{{.+}} : f32
func.func @sum(%data: !llvm.ptr, %count: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant dense<0.0> : vector<4xf32>
  cf.br ^head(%zero, %start : index, vector<4xf32>)
^head(%i: index, %total: vector<4xf32>):
  %more = arith.cmpi slt, %i, %count : index
  cf.cond_br %more, ^body, ^end
^body:
  %x = llvm.load %data : !llvm.ptr -> vector<4xf32>
  %sum = arith.addf %total, %x : vector<4xf32>
  %next = arith.addi %i, %one : index
  cf.br ^head(%next, %sum : index, vector<4xf32>)
^end:
  %first = vector.extract %total[0] : f32 from vector<4xf32>
  return %first : f32
}

// LLVM's optimizer is not to look through extensions: it would lose the sign of a zero (FenceExtensions.h).
// CHECK-LABEL: llvm.func @relu(
// CHECK: %[[FIRST:.+]] = llvm.fpext %{{.+}} : vector<8xf16> to vector<8xf32>
// CHECK-NEXT: llvm.call_intrinsic "llvm.arithmetic.fence"(%[[FIRST]]) : (vector<8xf32>) -> vector<8xf32>
// CHECK: %[[SECOND:.+]] = llvm.fpext %{{.+}} : vector<8xf16> to vector<8xf32>
// CHECK-NEXT: %[[FENCED:.+]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[SECOND]]) : (vector<8xf32>) -> vector<8xf32>
// CHECK: llvm.insertvalue %[[FENCED]],
func.func @relu(%x: vector<2x8xf16>) -> vector<2x8xf32> {
  %zero = arith.constant dense<0.0> : vector<2x8xf32>
  %wide = arith.extf %x : vector<2x8xf16> to vector<2x8xf32>
  %below = arith.cmpf olt, %wide, %zero : vector<2x8xf32>
  %r = arith.select %below, %zero, %wide : vector<2x8xi1>, vector<2x8xf32>
  return %r : vector<2x8xf32>
}

// Operations on indices that another compiler writes.
// CHECK-LABEL: llvm.func @indices(
// CHECK: llvm.add %{{.+}}, %{{.+}} : i64
// CHECK-NOT: index.
func.func @indices(%i: index, %j: index) -> index {
  %sum = index.add %i, %j
  return %sum : index
}

// Private functions take bf16 as its bits; public ones, and those whose address is taken, have the written types.
// CHECK-LABEL: llvm.func internal @callee(
// CHECK-SAME: %[[BITS:.+]]: i16, %{{.+}}: f32)
// CHECK: llvm.bitcast %[[BITS]] : i16 to bf16
func.func private @callee(%x: bf16, %y: f32) -> f32 {
  %wide = arith.extf %x : bf16 to f32
  %sum = arith.addf %wide, %y : f32
  return %sum : f32
}

// CHECK-LABEL: llvm.func internal @taken(
// CHECK-SAME: bf16)
func.func private @taken(%x: bf16) {
  return
}

// CHECK-LABEL: llvm.func @caller(
// CHECK-SAME: %[[X:.+]]: bf16)
// CHECK: %[[CAST:.+]] = llvm.bitcast %[[X]] : bf16 to i16
// CHECK: llvm.call @callee(%[[CAST]],
// CHECK: llvm.call %{{.+}}(%[[X]]) : !llvm.ptr, (bf16) -> ()
func.func @caller(%x: bf16) -> f32 {
  %y = arith.constant 1.0 : f32
  %z = func.call @callee(%x, %y) : (bf16, f32) -> f32
  %f = func.constant @taken : (bf16) -> ()
  func.call_indirect %f(%x) : (bf16) -> ()
  return %z : f32
}
