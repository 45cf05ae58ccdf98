// RUN: ad-opt %s --split-input-file --ad-autocast | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-autocast=policy=none | FileCheck %s --check-prefix=NONE

// A rule of an operation takes precedence over the lists; a policy of a function over that of the module and the option.

// CHECK-NOT: ad.precision
// NONE-NOT: ad.precision
module attributes {ad.precision = #ad.precision<bf16>} {
  // CHECK-LABEL: func.func @rules
  // CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>)
  // NONE-LABEL: func.func @rules
  // NONE-NOT: ad.cast
  func.func @rules(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
    // CHECK-NEXT: %[[X16:.*]] = ad.cast %[[X]]
    // CHECK-NEXT: ad.dot %[[X]], %[[X]] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: %[[E:.*]] = ad.exp %[[X16]] : tensor<4x4xbf16>
    // CHECK: ad.tanh %[[E]] : tensor<4x4xbf16>
    %y = ad.dot %x, %x {ad.precision = #ad.precision<never>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e = ad.exp %x {ad.precision = #ad.precision<always>} : tensor<4x4xf32>
    %t = ad.tanh %e {ad.precision = #ad.precision<follow>} : tensor<4x4xf32>
    return %y, %e, %t : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }

  // CHECK-LABEL: func.func @other_policy
  // NONE-LABEL: func.func @other_policy
  func.func @other_policy(%x: tensor<4x4xf32>) -> tensor<4x4xf32>
      attributes {ad.precision = #ad.precision<compute = f16, result = f32, always = [dot, "ad.exp"], default = follow>} {
    // CHECK: %[[Y:.*]] = ad.dot {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
    // NONE: ad.dot {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
    // CHECK: ad.exp {{.*}} : tensor<4x4xf16>
    // CHECK: ad.tanh {{.*}} : tensor<4x4xf16>
    %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e = ad.exp %y : tensor<4x4xf32>
    %t = ad.tanh %e : tensor<4x4xf32>
    return %t : tensor<4x4xf32>
  }

  // CHECK-LABEL: func.func @no_policy
  // CHECK-NOT: ad.cast
  func.func @no_policy(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {ad.precision = #ad.precision<none>} {
    %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

// Without a policy nothing is cast, and rules are removed.
// CHECK-NOT: ad.precision
// CHECK-LABEL: func.func @rule_without_policy
func.func @rule_without_policy(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: ad.dot {{.*}} -> tensor<4x4xf32>
  %y = ad.dot %x, %x {ad.precision = #ad.precision<always>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
