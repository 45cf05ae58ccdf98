// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// The cotangent is rounded with its own type and scale, and the magnitudes are the cotangents of the scales.
// CHECK-LABEL: func.func private @given__vjp_0_1_2_3_4(
// CHECK-SAME:    %[[A:.+]]: tensor<2x3xf32>, %[[B:.+]]: tensor<3x4xbf16>, %[[SA:.+]]: tensor<f32>, %[[SB:.+]]: tensor<f32>, %[[SG:.+]]: tensor<f32>, %[[G:.+]]: tensor<2x4xbf16>)
// CHECK:       %[[Y:.+]], %[[LA:.+]], %[[LB:.+]] = ad.scaled_dot %[[A]], %[[B]] scales(%[[SA]], %[[SB]], %[[SG]])
// CHECK:       %[[LG:.+]] = ad.cast %{{.+}} : tensor<bf16> -> tensor<f32>
// CHECK:       %[[DA:.+]], %{{.+}}, %{{.+}} = ad.scaled_dot %[[G]], %[[B]] scales(%[[SG]], %[[SB]]) types [f8E5M2, f8E4M3FN, f8E5M2] contract [1] x [1] : (tensor<2x4xbf16>, tensor<3x4xbf16>) -> tensor<2x3xf32>
// CHECK:       %[[DB:.+]], %{{.+}}, %{{.+}} = ad.scaled_dot %[[A]], %[[G]] scales(%[[SA]], %[[SG]]) types [f8E4M3FN, f8E5M2, f8E5M2] contract [0] x [0] : (tensor<2x3xf32>, tensor<2x4xbf16>) -> tensor<3x4xbf16>
// CHECK:       return %[[Y]], %[[DA]], %[[DB]], %[[LA]], %[[LB]], %[[LG]]
func.func @given(%a: tensor<2x3xf32>, %b: tensor<3x4xbf16>, %sa: tensor<f32>, %sb: tensor<f32>, %sg: tensor<f32>)
    -> tensor<2x4xbf16> {
  %y:3 = ad.scaled_dot %a, %b scales(%sa, %sb, %sg) : (tensor<2x3xf32>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
  return %y#0 : tensor<2x4xbf16>
}

// With the scales of the operands alone, that of the cotangent follows from its magnitude.
// CHECK-LABEL: func.func private @two__vjp_0(
// CHECK:       ad.is_finite
// CHECK:       %[[SG:.+]] = ad.select
// CHECK-NEXT:  %{{.+}}, %{{.+}}, %{{.+}} = ad.scaled_dot %{{.+}}, %{{.+}} scales(%[[SG]], %{{.+}}) types [f8E5M2, f8E4M3FN, f8E5M2]
func.func @two(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %sa: tensor<f32>, %sb: tensor<f32>) -> tensor<2x4xf32> {
  %y:3 = ad.scaled_dot %a, %b scales(%sa, %sb) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y#0 : tensor<2x4xf32>
}

// Axes of an operand that are at other positions of the product are transposed back, as those of ad.dot.
// CHECK-LABEL: func.func private @axes__vjp_0_1(
// CHECK:       %[[PA:.+]], %{{.+}}, %{{.+}} = ad.scaled_dot %{{.+}}, %{{.+}} types [f8E5M2, f8E4M3FN, f8E5M2] batch [0] x [2] contract [2] x [1]
// CHECK:       ad.transpose %[[PA]] [1, 0, 2] : tensor<2x3x4xf32>
// CHECK:       %[[PB:.+]], %{{.+}}, %{{.+}} = ad.scaled_dot %{{.+}}, %{{.+}} types [f8E5M2, f8E4M3FN, f8E5M2] batch [0] x [1] contract [1] x [0]
// CHECK:       ad.transpose %[[PB]] [2, 1, 0] : tensor<2x5x4xf32>
func.func @axes(%a: tensor<3x2x4xf32>, %b: tensor<4x5x2xf32>) -> tensor<2x3x5xf32> {
  %c:3 = ad.scaled_dot %a, %b batch [1] x [2] contract [2] x [0]
      : (tensor<3x2x4xf32>, tensor<4x5x2xf32>) -> tensor<2x3x5xf32>
  return %c#0 : tensor<2x3x5xf32>
}

func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xbf16>, %c: tensor<3x4xf32>, %d: tensor<3x2x4xf32>,
                %e: tensor<4x5x2xf32>, %s: tensor<f32>, %g: tensor<2x4xbf16>, %h: tensor<2x4xf32>,
                %k: tensor<2x3x5xf32>)
    -> (tensor<f32>, tensor<2x3xf32>, tensor<3x2x4xf32>) {
  %0:6 = ad.vjp @given(%a, %b, %s, %s, %s) cotangents(%g) wrt [0, 1, 2, 3, 4]
      : (tensor<2x3xf32>, tensor<3x4xbf16>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<2x4xbf16>)
      -> (tensor<2x4xbf16>, tensor<2x3xf32>, tensor<3x4xbf16>, tensor<f32>, tensor<f32>, tensor<f32>)
  %1:2 = ad.vjp @two(%a, %c, %s, %s) cotangents(%h) wrt [0]
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<f32>, tensor<f32>, tensor<2x4xf32>)
      -> (tensor<2x4xf32>, tensor<2x3xf32>)
  %2:3 = ad.vjp @axes(%d, %e) cotangents(%k) wrt [0, 1]
      : (tensor<3x2x4xf32>, tensor<4x5x2xf32>, tensor<2x3x5xf32>)
      -> (tensor<2x3x5xf32>, tensor<3x2x4xf32>, tensor<4x5x2xf32>)
  return %0#5, %1#1, %2#1 : tensor<f32>, tensor<2x3xf32>, tensor<3x2x4xf32>
}
