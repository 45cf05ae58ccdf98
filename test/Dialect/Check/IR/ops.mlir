// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope
// Expectations are never removed or merged.
// RUN: ad-opt %s --canonicalize --cse | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @expectations
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4xf32>, %[[I:.+]]: tensor<?xi1>
func.func @expectations(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<?xi1>) {
  // CHECK-NEXT: check.expect_eq(%[[X]], %[[Y]]) : tensor<4xf32>
  check.expect_eq(%x, %y) : tensor<4xf32>
  // CHECK-NEXT: check.expect_eq(%[[X]], %[[Y]]) : tensor<4xf32>
  check.expect_eq(%x, %y) : tensor<4xf32>
  // CHECK-NEXT: check.expect_eq(%[[I]], %[[I]]) : tensor<?xi1>
  check.expect_eq(%i, %i) : tensor<?xi1>
  // CHECK-NEXT: check.expect_almost_eq(%[[X]], %[[Y]]) : tensor<4xf32>
  check.expect_almost_eq(%x, %y) : tensor<4xf32>
  // CHECK-NEXT: check.expect_almost_eq(%[[X]], %[[Y]]) {relative, tolerance = 1.000000e-03 : f64} : tensor<4xf32>
  check.expect_almost_eq(%x, %y) {tolerance = 1.0e-3 : f64, relative} : tensor<4xf32>
  // CHECK-NEXT: check.expect_finite(%[[X]]) : tensor<4xf32>
  check.expect_finite(%x) : tensor<4xf32>
  return
}
