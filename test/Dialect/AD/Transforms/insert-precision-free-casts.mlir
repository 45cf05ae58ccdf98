// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// Operations without an f16 kernel compute in f32, between casts that are named after values. Nothing else changes;
// ad-simplify drops roundings with `widen` only.
// RUN: ad-opt %s --ad-set-numerics --ad-insert-precision-free-casts=missing=add:f16,dot:f16,layer_norm:f16,compare:f16 --mlir-print-debuginfo --mlir-print-local-scope --remarks-filter='ad-precision' 2>%t.remarks | FileCheck %s --enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks
// RUN: ad-opt %s --ad-set-numerics=numerics=strict --ad-insert-precision-free-casts=missing=add:f16,dot:f16 --ad-simplify | FileCheck %s --check-prefix=STRICT
// RUN: ad-opt %s --ad-set-numerics=numerics=strict,widen --ad-insert-precision-free-casts=missing=add:f16,dot:f16 --ad-simplify | FileCheck %s --check-prefix=WIDEN

// REMARK-COUNT-2: precision-free-cast | Category:ad-precision | missing=f16, operation=ad.add
// REMARK: precision-free-cast | Category:ad-precision | missing=f16, operation=ad.layer_norm

// CHECK-LABEL: @chain
// CHECK-SAME: %[[X:.+]]: tensor<4x4xf16> {ad.name = "x"}
// STRICT-LABEL: @chain
// WIDEN-LABEL: @chain
func.func @chain(%x: tensor<4x4xf16> {ad.name = "x"}, %b: tensor<4x4xf16>) -> tensor<4x4xf16> {
  // CHECK: %[[WIDE:.+]] = ad.cast %[[X]] {{.*}} : tensor<4x4xf16> -> tensor<4x4xf32> loc("InsertedPrecisionFreeCast_x"
  // CHECK: %[[DOT:.+]] = ad.dot {{.*}} -> tensor<4x4xf32>
  // CHECK: %[[ROUNDED:.+]] = ad.cast %[[DOT]] {{.*}} -> tensor<4x4xf16> loc("InsertedPrecisionFreeCast_dot_[[#@LINE+3]]"
  // CHECK: ad.cast %[[ROUNDED]] {{.*}} -> tensor<4x4xf32> loc("InsertedPrecisionFreeCast_dot_[[#@LINE+2]]"
  // CHECK: ad.cast %{{.*}} {{.*}} -> tensor<4x4xf32> loc("InsertedPrecisionFreeCast_arg1"
  %0 = ad.dot %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %1 = ad.add %0, %b : tensor<4x4xf16>
  %2 = ad.add %1, %b : tensor<4x4xf16>
  // STRICT: ad.dot
  // STRICT-NEXT: ad.cast {{.*}} -> tensor<4x4xf16>
  // STRICT-NEXT: ad.cast {{.*}} -> tensor<4x4xf32>
  // WIDEN-COUNT-2: ad.cast
  // WIDEN-NOT: ad.cast
  // WIDEN: ad.add
  // WIDEN-NEXT: %[[SUM:.+]] = ad.add {{.*}} : tensor<4x4xf32>
  // WIDEN-NEXT: ad.cast %[[SUM]]
  // WIDEN-NEXT: return
  return %2 : tensor<4x4xf16>
}

// Other types and other operations stay.
// CHECK-LABEL: @others
func.func @others(%x: tensor<4xf32>, %y: tensor<4xbf16>, %z: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xf16>) {
  // CHECK-NOT: ad.cast
  // CHECK: return
  %0 = ad.add %x, %x : tensor<4xf32>
  %1 = ad.add %y, %y : tensor<4xbf16>
  %2 = ad.mul %z, %z : tensor<4xf16>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xbf16>, tensor<4xf16>
}

// Each operand and result of a narrow float; the result of a comparison stays.
// CHECK-LABEL: @operands
func.func @operands(%x: tensor<4x8xf16>, %s: tensor<8xf16>) -> (tensor<4x8xf16>, tensor<4x8xi1>) {
  // CHECK: ad.layer_norm {{.*}} : tensor<4x8xf32>, tensor<8xf32>
  // CHECK: ad.compare lt {{.*}} : tensor<4x8xf32>
  %0 = ad.layer_norm %x, %s, %s epsilon 1.0e-5 : tensor<4x8xf16>, tensor<8xf16>
  %1 = ad.compare lt %x, %0 : tensor<4x8xf16>
  return %0, %1 : tensor<4x8xf16>, tensor<4x8xi1>
}
