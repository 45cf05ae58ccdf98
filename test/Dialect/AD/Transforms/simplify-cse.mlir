// RUN: ad-opt %s --ad-set-numerics --ad-simplify | FileCheck %s

// CHECK-LABEL: @duplicates
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @duplicates(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[E:.+]] = ad.exp %[[X]]
  // CHECK-NEXT: %[[Y:.+]] = ad.add %[[E]], %[[E]]
  // CHECK-NEXT: return %[[Y]]
  %a = ad.exp %x : tensor<4xf32>
  %b = ad.exp %x : tensor<4xf32>
  %y = ad.add %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Equal operations with other permissions are others.
// CHECK-LABEL: @other_permissions
func.func @other_permissions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-COUNT-2: ad.exp
  %a = ad.exp %x : tensor<4xf32>
  %b = ad.exp %x {allow = #ad.allow<approx>} : tensor<4xf32>
  %y = ad.add %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Two updates of one donated parameter: both happen, p + g + g.
// CHECK-LABEL: @main
// CHECK-SAME: %[[P:.+]]: tensor<f32> {ad.donated = 0 : i64}, %[[G:.+]]: tensor<f32>
func.func @main(%p: tensor<f32> {ad.donated = 0}, %g: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Q:.+]] = ad.add %[[P]], %[[G]]
  // CHECK: %[[R:.+]] = ad.add %[[Q]], %[[G]]
  // CHECK: return %[[R]]
  %q = ad.add %p, %g : tensor<f32>
  %r = ad.add %q, %g : tensor<f32>
  return %r : tensor<f32>
}
