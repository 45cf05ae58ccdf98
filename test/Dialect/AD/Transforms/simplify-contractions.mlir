// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// Larger contractions: a bias or a factor in ad.gemm with permissions only, batches of rows without. A remark counts the
// rewrites of each pattern.
// RUN: ad-opt %s --ad-set-numerics --ad-simplify | FileCheck %s --check-prefixes=CHECK,STRICT --enable-var-scope
// RUN: ad-opt %s --ad-set-numerics=numerics=strict,widen,algebra --ad-simplify --remarks-filter=ad-simplify 2>%t.remarks | FileCheck %s --check-prefixes=CHECK,FREE --enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks

// REMARK-DAG: applied-pattern | Category:ad-simplify | count=2, pattern=add-bias-in-gemm
// REMARK-DAG: applied-pattern | Category:ad-simplify | count=1, pattern=divide-in-gemm
// REMARK-DAG: applied-pattern | Category:ad-simplify | count=1, pattern=divide-in-narrow-gemm
// REMARK-DAG: applied-pattern | Category:ad-simplify | count=1, pattern=scale-in-gemm
// REMARK-DAG: applied-pattern | Category:ad-simplify | count=1, pattern=fold-reshapes-into-dot

// CHECK-LABEL: @bias
// CHECK-SAME: %[[A:.+]]: tensor<4x8xf16>, %[[B:.+]]: tensor<2x8xf16>, %[[C:.+]]: tensor<4x2xf16>
func.func @bias(%a: tensor<4x8xf16>, %b: tensor<2x8xf16>, %c: tensor<4x2xf16>) -> tensor<4x2xf16> {
  // STRICT: ad.gemm
  // STRICT-NEXT: ad.add
  // FREE: %[[Y:.+]] = ad.gemm %[[A]], %[[B]], %[[C]] {{.*}}transB} : {{.*}} -> tensor<4x2xf16>
  // FREE-NEXT: return %[[Y]]
  %0 = ad.gemm %a, %b {transB} : (tensor<4x8xf16>, tensor<2x8xf16>) -> tensor<4x2xf16>
  %1 = ad.add %c, %0 : tensor<4x2xf16>
  return %1 : tensor<4x2xf16>
}

// A factor stays.
// CHECK-LABEL: @bias_of_product_with_factor
func.func @bias_of_product_with_factor(%a: tensor<4x8xbf16>, %b: tensor<8x2xbf16>, %c: tensor<2xbf16>) -> tensor<4x2xbf16> {
  // STRICT: ad.gemm
  // STRICT: ad.add
  // FREE-NOT: ad.add
  // FREE: ad.gemm {{.*}}alpha = 2.000000e+00
  %0 = ad.gemm %a, %b {alpha = 2.0} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
  %1 = ad.add %0, %c : tensor<4x2xbf16>, tensor<2xbf16>
  return %1 : tensor<4x2xbf16>
}

// In f32 the product is not rounded before the sum: nothing is gained.
// CHECK-LABEL: @bias_in_f32
func.func @bias_in_f32(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK: ad.dot
  // CHECK-NEXT: ad.add
  %0 = ad.dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = ad.add %0, %c : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// A product that others read as it is stays.
// CHECK-LABEL: @two_users
func.func @two_users(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf16>) -> (tensor<4x4xf16>, tensor<4x4xf16>) {
  // CHECK: ad.dot
  // CHECK-NEXT: ad.add
  %0 = ad.dot %a, %b : (tensor<4x8xf16>, tensor<8x4xf16>) -> tensor<4x4xf16>
  %1 = ad.add %0, %c : tensor<4x4xf16>
  return %0, %1 : tensor<4x4xf16>, tensor<4x4xf16>
}

// CHECK-LABEL: @scale
func.func @scale(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %h: tensor<4x8xf16>, %g: tensor<8x2xf16>) -> (tensor<4x2xf32>, tensor<4x2xf16>, tensor<4x2xf16>) {
  // STRICT-COUNT-2: ad.dot
  // STRICT-NOT: ad.gemm
  // FREE-DAG: ad.gemm {{.*}}alpha = 0.3333333{{[0-9]*}} {{.*}} -> tensor<4x2xf32>
  // FREE-DAG: ad.gemm {{.*}}alpha = 0.3333333{{[0-9]*}} {{.*}} -> tensor<4x2xf16>
  // FREE-DAG: ad.gemm {{.*}}alpha = 3.000000e+00 {{.*}} -> tensor<4x2xf16>
  // FREE-NOT: ad.div
  // CHECK: return
  %c = ad.constant dense<3.0> : tensor<f32>
  %d = ad.constant dense<3.0> : tensor<f16>
  %0 = ad.dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = ad.div %0, %c : tensor<4x2xf32>, tensor<f32>
  %2 = ad.dot %h, %g : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf16>
  %3 = ad.div %2, %d : tensor<4x2xf16>, tensor<f16>
  %4 = ad.dot %h, %g : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf16>
  %5 = ad.mul %4, %d : tensor<4x2xf16>, tensor<f16>
  return %1, %3, %5 : tensor<4x2xf32>, tensor<4x2xf16>, tensor<4x2xf16>
}

// CHECK-LABEL: @rows
// CHECK-SAME: %[[X:.+]]: tensor<?x3x8xf32>, %[[W:.+]]: tensor<8x2x5xf32>
func.func @rows(%x: tensor<?x3x8xf32>, %w: tensor<8x2x5xf32>) -> tensor<?x3x2x5xf32> {
  // CHECK-NEXT: %[[Y:.+]] = ad.dot %[[X]], %[[W]] contract [2] x [0] {{.*}} : (tensor<?x3x8xf32>, tensor<8x2x5xf32>) -> tensor<?x3x2x5xf32>
  // CHECK-NEXT: return %[[Y]]
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?x3x8xf32>
  %m = arith.muli %n, %c3 : index
  %0 = ad.reshape %x(%m) : tensor<?x3x8xf32> -> tensor<?x8xf32>
  %1 = ad.dot %0, %w contract [1] x [0] : (tensor<?x8xf32>, tensor<8x2x5xf32>) -> tensor<?x2x5xf32>
  %2 = ad.reshape %1(%n) : tensor<?x2x5xf32> -> tensor<?x3x2x5xf32>
  return %2 : tensor<?x3x2x5xf32>
}

// Rows that are split in another way stay.
// CHECK-LABEL: @other_rows
func.func @other_rows(%x: tensor<4x3x8xf32>, %w: tensor<8x2xf32>) -> tensor<3x4x2xf32> {
  // CHECK: ad.reshape
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.reshape
  %0 = ad.reshape %x : tensor<4x3x8xf32> -> tensor<12x8xf32>
  %1 = ad.dot %0, %w : (tensor<12x8xf32>, tensor<8x2xf32>) -> tensor<12x2xf32>
  %2 = ad.reshape %1 : tensor<12x2xf32> -> tensor<3x4x2xf32>
  return %2 : tensor<3x4x2xf32>
}
