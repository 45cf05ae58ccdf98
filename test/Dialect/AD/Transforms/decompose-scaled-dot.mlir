// RUN: ad-opt %s --split-input-file --ad-decompose | FileCheck %s

// With given scales: both operands are scaled and rounded, the sum is f32, and what nothing reads is not computed.
// CHECK-LABEL: func.func @given
// CHECK-SAME: (%[[A:.+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<8x2xbf16>, %[[SA:.+]]: tensor<f32>, %[[SB:.+]]: tensor<f32>)
func.func @given(%a: tensor<4x8xf32>, %b: tensor<8x2xbf16>, %sa: tensor<f32>, %sb: tensor<f32>) -> tensor<4x2xbf16> {
  // CHECK-NEXT: %[[PA:.+]] = ad.mul %[[A]], %[[SA]] : tensor<4x8xf32>, tensor<f32>
  // CHECK-NEXT: %[[QA:.+]] = ad.cast %[[PA]] : tensor<4x8xf32> -> tensor<4x8xf8E5M2>
  // CHECK-NEXT: %[[WB:.+]] = ad.cast %[[B]] : tensor<8x2xbf16> -> tensor<8x2xf32>
  // CHECK-NEXT: %[[PB:.+]] = ad.mul %[[WB]], %[[SB]] : tensor<8x2xf32>, tensor<f32>
  // CHECK-NEXT: %[[QB:.+]] = ad.cast %[[PB]] : tensor<8x2xf32> -> tensor<8x2xf8E4M3FN>
  // CHECK-NEXT: %[[SUM:.+]] = ad.dot %[[QA]], %[[QB]] {order = #ad.order<block = 4>} : (tensor<4x8xf8E5M2>, tensor<8x2xf8E4M3FN>) -> tensor<4x2xf32>
  // CHECK: %[[IA:.+]] = ad.div %{{.+}}, %[[SA]] : tensor<f32>
  // CHECK: %[[IB:.+]] = ad.div %{{.+}}, %[[SB]] : tensor<f32>
  // CHECK-NEXT: %[[FACTOR:.+]] = ad.mul %[[IA]], %[[IB]] : tensor<f32>
  // CHECK-NEXT: %[[PRODUCT:.+]] = ad.mul %[[SUM]], %[[FACTOR]] : tensor<4x2xf32>, tensor<f32>
  // CHECK-NEXT: %[[Y:.+]] = ad.cast %[[PRODUCT]] : tensor<4x2xf32> -> tensor<4x2xbf16>
  // CHECK-NEXT: return %[[Y]]
  %0:3 = ad.scaled_dot %a, %b scales(%sa, %sb) types [f8E5M2, f8E4M3FN, f8E5M2] {order = #ad.order<block = 4>}
      : (tensor<4x8xf32>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
  return %0#0 : tensor<4x2xbf16>
}

// -----

// Magnitudes that are read: tensors of static shape are reduced as one axis; others may have no elements.
// CHECK-LABEL: func.func @magnitudes
// CHECK-SAME: (%[[A:.+]]: tensor<4x8xbf16>, %[[B:.+]]: tensor<?xf32>, %{{.+}}: tensor<f32>, %{{.+}}: tensor<f32>)
func.func @magnitudes(%a: tensor<4x8xbf16>, %b: tensor<?xf32>, %sa: tensor<f32>, %sb: tensor<f32>)
    -> (tensor<4xf32>, tensor<f32>, tensor<f32>) {
  // CHECK: %[[FLAT:.+]] = ad.reshape %[[A]] : tensor<4x8xbf16> -> tensor<32xbf16>
  // CHECK-NEXT: %[[ABS:.+]] = ad.abs %[[FLAT]] : tensor<32xbf16>
  // CHECK-NEXT: %[[MAX:.+]] = ad.reduce_max %[[ABS]] axes [0] : tensor<32xbf16> -> tensor<bf16>
  // CHECK-NEXT: %[[LA:.+]] = ad.cast %[[MAX]] : tensor<bf16> -> tensor<f32>
  // CHECK: %[[ABSB:.+]] = ad.abs %[[B]] : tensor<?xf32>
  // CHECK-NEXT: %[[MAXB:.+]] = ad.reduce_max %[[ABSB]] axes [0] : tensor<?xf32> -> tensor<f32>
  // CHECK-NEXT: %[[ZERO:.+]] = ad.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[LB:.+]] = ad.max %[[MAXB]], %[[ZERO]] : tensor<f32>
  // CHECK: return %{{.+}}, %[[LA]], %[[LB]]
  %0:3 = ad.scaled_dot %a, %b scales(%sa, %sb) : (tensor<4x8xbf16>, tensor<?xf32>) -> tensor<4xf32>
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<f32>, tensor<f32>
}

// -----

// Without scales they follow from the magnitudes.
// CHECK-LABEL: func.func @current
func.func @current(%a: tensor<8xf32>) -> tensor<f32> {
  // CHECK: %[[LARGEST:.+]] = ad.reduce_max
  // CHECK: %[[LIMIT:.+]] = ad.constant dense<4.480000e+02> : tensor<f32>
  // CHECK: %[[RATIO:.+]] = ad.div %[[LIMIT]], %[[LARGEST]] : tensor<f32>
  // CHECK: ad.log2 %[[RATIO]] : tensor<f32>
  // CHECK: ad.exp2
  // CHECK: ad.is_finite %[[LARGEST]]
  // CHECK: %[[SCALE:.+]] = ad.select {{.*}} : tensor<i1>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: ad.mul %{{.+}}, %[[SCALE]] : tensor<8xf32>, tensor<f32>
  %0:3 = ad.scaled_dot %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %0#0 : tensor<f32>
}
