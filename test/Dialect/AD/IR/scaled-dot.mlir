// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @current_scales
func.func @current_scales(%a: tensor<4x?xf32>, %b: tensor<8x2xbf16>) -> (tensor<4x2xf16>, tensor<f32>, tensor<f32>) {
  // CHECK: %{{.+}}, %{{.+}}, %{{.+}} = ad.scaled_dot %{{.+}}, %{{.+}} : (tensor<4x?xf32>, tensor<8x2xbf16>) -> tensor<4x2xf16>
  %y, %largest_a, %largest_b = ad.scaled_dot %a, %b types [f8E4M3FN, f8E4M3FN, f8E5M2]
      : (tensor<4x?xf32>, tensor<8x2xbf16>) -> tensor<4x2xf16>
  return %y, %largest_a, %largest_b : tensor<4x2xf16>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @given_scales
// CHECK-SAME: (%[[A:.+]]: tensor<5x4x8xf32>, %[[B:.+]]: tensor<5x2x8xf32>, %[[SA:.+]]: tensor<f32>, %[[SB:.+]]: tensor<f32>, %[[SG:.+]]: tensor<f32>)
func.func @given_scales(%a: tensor<5x4x8xf32>, %b: tensor<5x2x8xf32>, %sa: tensor<f32>, %sb: tensor<f32>,
                        %sg: tensor<f32>) -> tensor<5x4x2xf32> {
  // CHECK: ad.scaled_dot %[[A]], %[[B]] scales(%[[SA]], %[[SB]]) batch [0] x [0] contract [2] x [2] : (
  %0:3 = ad.scaled_dot %a, %b scales(%sa, %sb) batch [0] x [0] contract [2] x [2]
      : (tensor<5x4x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x2xf32>
  // CHECK: ad.scaled_dot %[[A]], %[[B]] scales(%[[SA]], %[[SB]], %[[SG]]) types [f8E5M2, f8E4M3FN, f8E5M2] batch [0] x [0] contract [2] x [2] {allow = #ad.allow<reorder>} : (
  %1:3 = ad.scaled_dot %a, %b scales(%sa, %sb, %sg) types [f8E5M2, f8E4M3FN, f8E5M2] batch [0] x [0] contract [2] x [2]
      {allow = #ad.allow<reorder>} : (tensor<5x4x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x2xf32>
  %2 = ad.add %0#0, %1#0 : tensor<5x4x2xf32>
  return %2 : tensor<5x4x2xf32>
}
