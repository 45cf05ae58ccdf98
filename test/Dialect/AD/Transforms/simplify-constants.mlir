// RUN: ad-opt %s --ad-set-numerics=numerics=strict --ad-simplify | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: ad-opt %s --ad-set-numerics=numerics=strict,algebra --ad-simplify | FileCheck %s --check-prefixes=CHECK,ALGEBRA
// RUN: ad-opt %s --ad-set-numerics=numerics=fast --ad-simplify | FileCheck %s --check-prefixes=CHECK,ALGEBRA

// Always: constants are computed, n * 1 is n.

// CHECK-LABEL: @product_of_constants
func.func @product_of_constants() -> tensor<f32> {
  %a = ad.constant dense<-1.0> : tensor<f32>
  %b = ad.constant dense<0.01> : tensor<f32>
  // CHECK-NEXT: %[[C:.+]] = ad.constant dense<-0.00999999977> : tensor<f32>
  // CHECK-NEXT: return %[[C]]
  %c = ad.mul %a, %b : tensor<f32>
  return %c : tensor<f32>
}

// CHECK-LABEL: @unary_of_constant
func.func @unary_of_constant() -> tensor<2xf32> {
  %a = ad.constant dense<[4.0, 9.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[C:.+]] = ad.constant dense<[2.000000e+00, 3.000000e+00]>
  // CHECK-NEXT: return %[[C]]
  %r = ad.sqrt %a : tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @times_one
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @times_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = ad.constant dense<1.0> : tensor<4xf32>
  // CHECK-NEXT: return %[[X]]
  %y = ad.mul %x, %one : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Only with the permission.

// CHECK-LABEL: @plus_zero
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @plus_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = ad.constant dense<0.0> : tensor<4xf32>
  // STRICT: %[[Y:.+]] = ad.add
  // STRICT: return %[[Y]]
  // ALGEBRA-NEXT: return %[[X]]
  %y = ad.add %x, %zero : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @times_zero
func.func @times_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = ad.constant dense<0.0> : tensor<4xf32>
  // CHECK: %[[ZERO:.+]] = ad.constant
  // STRICT: %[[Y:.+]] = ad.mul
  // STRICT: return %[[Y]]
  // ALGEBRA-NEXT: return %[[ZERO]]
  %y = ad.mul %x, %zero : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @chain_of_constants
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @chain_of_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = ad.constant dense<3.0> : tensor<4xf32>
  %b = ad.constant dense<5.0> : tensor<4xf32>
  // STRICT-COUNT-2: ad.mul
  // ALGEBRA: %[[C:.+]] = ad.constant dense<1.500000e+01>
  // ALGEBRA-NEXT: %[[Y:.+]] = ad.mul %[[X]], %[[C]]
  // ALGEBRA-NEXT: return %[[Y]]
  %y = ad.mul %x, %a : tensor<4xf32>
  %z = ad.mul %y, %b : tensor<4xf32>
  return %z : tensor<4xf32>
}
