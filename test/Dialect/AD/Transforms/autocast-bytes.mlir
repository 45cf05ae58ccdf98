// RUN: ad-opt %s --split-input-file --ad-autocast | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-autocast --ad-verify-autocast --ad-autocast | FileCheck %s

// Contractions become ad.scaled_dot with the scales of their operands; the rest is as in bf16.
// CHECK-LABEL: module {
module attributes {ad.precision = #ad.precision<f8>} {
  // CHECK-LABEL: func.func @layer
  // CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>) -> tensor<4x8xf32> {
  func.func @layer(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
    // CHECK-NEXT: %[[Y:.*]], %{{.+}}, %{{.+}} = ad.scaled_dot %[[X]], %[[W]] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xbf16>
    %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    // CHECK-NEXT: %[[Z:.*]] = ad.relu %[[Y]] : tensor<4x8xbf16>
    %z = ad.relu %y : tensor<4x8xf32>
    // CHECK-NEXT: %[[V:.*]], %{{.+}}, %{{.+}} = ad.scaled_dot %[[Z]], %[[W]] contract [1] x [1] : (tensor<4x8xbf16>, tensor<8x8xf32>) -> tensor<4x8xbf16>
    // CHECK-NEXT: %[[V32:.*]] = ad.cast %[[V]] : tensor<4x8xbf16> -> tensor<4x8xf32>
    %v = ad.dot %z, %w contract [1] x [1] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    // CHECK-NEXT: %[[E:.*]] = ad.exp %[[V32]] : tensor<4x8xf32>
    %e = ad.exp %v : tensor<4x8xf32>
    // CHECK-NEXT: return %[[E]]
    return %e : tensor<4x8xf32>
  }

  // Factors and bias of a gemm are f32, as in its accumulator.
  // CHECK-LABEL: func.func @gemm
  // CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<2x8xf32>, %[[B:.*]]: tensor<2xf32>)
  func.func @gemm(%x: tensor<8x4xf32>, %w: tensor<2x8xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
    // CHECK: %[[Y:.*]], %{{.+}}, %{{.+}} = ad.scaled_dot %[[X]], %[[W]] contract [0] x [1] : (tensor<8x4xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    // CHECK: %[[ALPHA:.*]] = ad.constant dense<5.000000e-01> : tensor<f32>
    // CHECK: %[[Z:.*]] = ad.mul %[[Y]], %[[ALPHA]] : tensor<4x2xf32>, tensor<f32>
    // CHECK: %[[BETA:.*]] = ad.constant dense<2.000000e+00> : tensor<f32>
    // CHECK: %[[C:.*]] = ad.mul %[[B]], %[[BETA]] : tensor<2xf32>, tensor<f32>
    // CHECK: %[[SUM:.*]] = ad.add %[[Z]], %[[C]] : tensor<4x2xf32>, tensor<2xf32>
    // CHECK: ad.cast %[[SUM]] : tensor<4x2xf32> -> tensor<4x2xbf16>
    %y = ad.gemm %x, %w, %b {transA, transB, alpha = 0.5 : f64, beta = 2.0 : f64}
        : (tensor<8x4xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    return %y : tensor<4x2xf32>
  }

  // CHECK-LABEL: func.func @rules
  func.func @rules(%x: tensor<4x4xf32>, %d: tensor<4x4xf64>, %i: tensor<4x4xi8>) -> (tensor<4x4xf32>, tensor<4x4xf64>, tensor<4x4xi8>) {
    // CHECK-NEXT: ad.dot {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %a = ad.dot %x, %x {ad.precision = #ad.precision<never>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: ad.dot {{.*}} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %b = ad.dot %d, %d : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    // CHECK-NEXT: ad.dot {{.*}} : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi8>
    %c = ad.dot %i, %i : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi8>
    return %a, %b, %c : tensor<4x4xf32>, tensor<4x4xf64>, tensor<4x4xi8>
  }
}

// -----

// Types of the policy.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {ad.precision = #ad.precision<compute = f8E5M2, gradient = f8E4M3FN, always = [dot]>} {
  // CHECK-NEXT: ad.scaled_dot {{.*}} types [f8E5M2, f8E5M2, f8E4M3FN] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: return
  %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Scales of an argument are those of all contractions that the function executes, in its order.
module attributes {ad.precision = #ad.precision<f8>} {
  func.func private @square(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }

  func.func private @fourth(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %y = call @square(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %z = call @square(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %z : tensor<4x4xf32>
  }

  func.func private @exact(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {ad.precision = #ad.precision<none>} {
    %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }

  // CHECK-LABEL: func.func @scales
  // CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>, %[[S:.*]]: tensor<3x3xf32>) -> tensor<4x4xf32> {
  func.func @scales(%x: tensor<4x4xf32>, %s: tensor<3x3xf32> {ad.scales}) -> tensor<4x4xf32> {
    // CHECK: ad.slice %[[S]] [0, 0] strides [1, 1] : tensor<3x3xf32> -> tensor<1x1xf32>
    // CHECK: %[[S20:.*]] = ad.slice %[[S]] [2, 0]
    // CHECK: %[[A:.*]] = ad.reshape %[[S20]] : tensor<1x1xf32> -> tensor<f32>
    // CHECK: %[[S21:.*]] = ad.slice %[[S]] [2, 1]
    // CHECK: %[[B:.*]] = ad.reshape %[[S21]]
    // CHECK: %[[S22:.*]] = ad.slice %[[S]] [2, 2]
    // CHECK: %[[G:.*]] = ad.reshape %[[S22]]
    // CHECK-COUNT-2: ad.scaled_dot
    %y = call @fourth(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK: call @exact
    %z = call @exact(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK: ad.scaled_dot {{.*}} scales(%[[A]], %[[B]], %[[G]])
    %v = ad.dot %z, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %v : tensor<4x4xf32>
  }
}

// -----

// Other policies do not read scales.
// CHECK-LABEL: func.func @unread
// CHECK-SAME: %{{.*}}: tensor<7x3xf32>) -> tensor<4x4xf32> {
func.func @unread(%x: tensor<4x4xf32>, %s: tensor<7x3xf32> {ad.scales}) -> tensor<4x4xf32>
    attributes {ad.precision = #ad.precision<bf16>} {
  // CHECK: ad.dot {{.*}} -> tensor<4x4xbf16>
  %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
