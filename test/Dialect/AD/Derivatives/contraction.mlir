// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// A matrix product needs no transposition.
// CHECK-LABEL: func.func private @dot_a1__vjp_0_1(
// CHECK-SAME:    %[[A:.+]]: tensor<2x3xf32>, %[[B:.+]]: tensor<3x4xf32>, %[[G:.+]]: tensor<2x4xf32>)
// CHECK:       %[[DA:.+]] = ad.dot %[[G]], %[[B]] contract [1] x [1] : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
// CHECK:       %[[DB:.+]] = ad.dot %[[A]], %[[G]] contract [0] x [0] : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
// CHECK:       return %{{.+}}, %[[DA]], %[[DB]]
func.func @dot_a1(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = ad.dot %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %c : tensor<2x4xf32>
}

// Axes of an operand that are at other positions of the product are transposed back.
// CHECK-LABEL: func.func private @dot_a1_axes__vjp_0_1(
// CHECK-SAME:    %[[A:.+]]: tensor<3x2x4xf32>, %[[B:.+]]: tensor<4x5x2xf32>, %[[G:.+]]: tensor<2x3x5xf32>)
// CHECK:       %[[PA:.+]] = ad.dot %[[G]], %[[B]] batch [0] x [2] contract [2] x [1]
// CHECK-SAME:    -> tensor<2x3x4xf32>
// CHECK:       ad.transpose %[[PA]] [1, 0, 2] : tensor<2x3x4xf32>
// CHECK:       %[[PB:.+]] = ad.dot %[[G]], %[[A]] batch [0] x [1] contract [1] x [0]
// CHECK-SAME:    -> tensor<2x5x4xf32>
// CHECK:       ad.transpose %[[PB]] [2, 1, 0] : tensor<2x5x4xf32>
func.func @dot_a1_axes(%a: tensor<3x2x4xf32>, %b: tensor<4x5x2xf32>) -> tensor<2x3x5xf32> {
  %c = ad.dot %a, %b batch [1] x [2] contract [2] x [0] : (tensor<3x2x4xf32>, tensor<4x5x2xf32>) -> tensor<2x3x5xf32>
  return %c : tensor<2x3x5xf32>
}

// A cotangent in the accumulator's type meets the other operand there.
// CHECK-LABEL: func.func private @dot_a1_wide__vjp_0(
// CHECK-SAME:    %[[B:[^ ,]+]]: tensor<3x4xbf16>, %[[G:[^ ,]+]]: tensor<2x4xf32>)
// CHECK:       %[[WIDE:.+]] = ad.cast %[[B]] : tensor<3x4xbf16> -> tensor<3x4xf32>
// CHECK:       %[[DA:.+]] = ad.dot %[[G]], %[[WIDE]] contract [1] x [1]
// CHECK:       ad.cast %[[DA]] : tensor<2x3xf32> -> tensor<2x3xbf16>
func.func @dot_a1_wide(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>) -> tensor<2x4xf32> {
  %c = ad.dot %a, %b : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>
  return %c : tensor<2x4xf32>
}

// CHECK-LABEL: func.func private @gemm_a1__vjp_0_1_2(
// CHECK-SAME:    %[[A:.+]]: tensor<2x3xf32>, %[[B:.+]]: tensor<4x3xf32>, %[[BIAS:.+]]: tensor<4xf32>, %[[G:.+]]: tensor<2x4xf32>)
// CHECK:       %[[DA:.+]] = ad.gemm %[[G]], %[[B]] {alpha = 2.000000e+00 : f64} : (tensor<2x4xf32>, tensor<4x3xf32>)
// CHECK:       %[[DB:.+]] = ad.gemm %[[G]], %[[A]] {alpha = 2.000000e+00 : f64, transA} : (tensor<2x4xf32>, tensor<2x3xf32>)
// CHECK:       %[[SCALED:.+]] = ad.mul %[[G]], %{{.+}} : tensor<2x4xf32>, tensor<f32>
// CHECK:       %[[DBIAS:.+]] = ad.sum_to_shape %[[SCALED]] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK:       return %{{.+}}, %[[DA]], %[[DB]], %[[DBIAS]]
func.func @gemm_a1(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %bias: tensor<4xf32>) -> tensor<2x4xf32> {
  %c = ad.gemm %a, %b, %bias {transB, alpha = 2.0 : f64, beta = 3.0 : f64}
    : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %c : tensor<2x4xf32>
}

func.func @requests(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %g: tensor<2x4xf32>, %p: tensor<3x2x4xf32>,
                    %q: tensor<4x5x2xf32>, %pq: tensor<2x3x5xf32>, %na: tensor<2x3xbf16>, %nb: tensor<3x4xbf16>,
                    %t: tensor<4x3xf32>, %bias: tensor<4xf32>) {
  %dot:3 = ad.vjp @dot_a1(%a, %b) cotangents(%g) wrt [0, 1]
    : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>)
  %axes:3 = ad.vjp @dot_a1_axes(%p, %q) cotangents(%pq) wrt [0, 1]
    : (tensor<3x2x4xf32>, tensor<4x5x2xf32>, tensor<2x3x5xf32>)
      -> (tensor<2x3x5xf32>, tensor<3x2x4xf32>, tensor<4x5x2xf32>)
  %wide:2 = ad.vjp @dot_a1_wide(%na, %nb) cotangents(%g) wrt [0]
    : (tensor<2x3xbf16>, tensor<3x4xbf16>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x3xbf16>)
  %gemm:4 = ad.vjp @gemm_a1(%a, %t, %bias) cotangents(%g) wrt [0, 1, 2]
    : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<2x4xf32>)
      -> (tensor<2x4xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>)
  return
}
