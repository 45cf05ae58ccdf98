// RUN: ad-opt %s --canonicalize | FileCheck %s

// Operations on constants give the bits that the compiled program would.

// CHECK-LABEL: func.func @scalar_product(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<-0.00999999977> : tensor<f32>
// CHECK-NEXT: return %[[C]]
func.func @scalar_product() -> tensor<f32> {
  %a = ad.constant dense<-1.0> : tensor<f32>
  %b = ad.constant dense<0.01> : tensor<f32>
  %z = ad.mul %a, %b : tensor<f32>
  return %z : tensor<f32>
}

// CHECK-LABEL: func.func @exp_of_one(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<2.71828175> : tensor<f32>
// CHECK-NEXT: return %[[C]]
func.func @exp_of_one() -> tensor<f32> {
  %a = ad.constant dense<1.0> : tensor<f32>
  %z = ad.exp %a : tensor<f32>
  return %z : tensor<f32>
}

// CHECK-LABEL: func.func @exp_of_infinity(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<0x7F800000> : tensor<f32>
// CHECK-NEXT: return %[[C]]
func.func @exp_of_infinity() -> tensor<f32> {
  %a = ad.constant dense<0x7F800000> : tensor<f32>
  %z = ad.exp %a : tensor<f32>
  return %z : tensor<f32>
}

// CHECK-LABEL: func.func @dense(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[5.000000e+00, -1.000000e+00, 2.500000e-01, -0.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: return %[[C]]
func.func @dense() -> tensor<4xf32> {
  %a = ad.constant dense<[2.0, -3.0, 0.25, -0.0]> : tensor<4xf32>
  %b = ad.constant dense<[3.0, 2.0, 0.0, -0.0]> : tensor<4xf32>
  %z = ad.add %a, %b : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @broadcast(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<{{\[}}[11, 12, 13], [21, 22, 23]]> : tensor<2x3xi32>
// CHECK-NEXT: return %[[C]]
func.func @broadcast() -> tensor<2x3xi32> {
  %a = ad.constant dense<[[10], [20]]> : tensor<2x1xi32>
  %b = ad.constant dense<[1, 2, 3]> : tensor<3xi32>
  %z = ad.add %a, %b : tensor<2x1xi32>, tensor<3xi32>
  return %z : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @one_rounding_of_bf16(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<2.560000e+02> : tensor<bf16>
// CHECK-NEXT: return %[[C]]
func.func @one_rounding_of_bf16() -> tensor<bf16> {
  %a = ad.constant dense<256.0> : tensor<bf16>
  %b = ad.constant dense<1.0> : tensor<bf16>
  %z = ad.add %a, %b : tensor<bf16>
  return %z : tensor<bf16>
}

// CHECK-LABEL: func.func @f8_saturates(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<4.480000e+02> : tensor<f8E4M3FN>
// CHECK-NEXT: return %[[C]]
func.func @f8_saturates() -> tensor<f8E4M3FN> {
  %a = ad.constant dense<448.0> : tensor<f8E4M3FN>
  %b = ad.constant dense<2.0> : tensor<f8E4M3FN>
  %z = ad.mul %a, %b : tensor<f8E4M3FN>
  return %z : tensor<f8E4M3FN>
}

// CHECK-LABEL: func.func @minimum_of_zeros(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[-0.000000e+00, -0.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: return %[[C]]
func.func @minimum_of_zeros() -> tensor<4xf32> {
  %a = ad.constant dense<[0.0, -0.0, 0.0, 1.0]> : tensor<4xf32>
  %b = ad.constant dense<[-0.0, 0.0, 0.0, 2.0]> : tensor<4xf32>
  %z = ad.min %a, %b : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @maximum_of_zeros(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[0.000000e+00, 0.000000e+00, -0.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: return %[[C]]
func.func @maximum_of_zeros() -> tensor<4xf32> {
  %a = ad.constant dense<[0.0, -0.0, -0.0, 1.0]> : tensor<4xf32>
  %b = ad.constant dense<[-0.0, 0.0, -0.0, 2.0]> : tensor<4xf32>
  %z = ad.max %a, %b : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @comparison_with_nan(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT: return %[[C]]
func.func @comparison_with_nan() -> tensor<2xi1> {
  %a = ad.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %b = ad.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %z = ad.compare ne %a, %b : tensor<2xf32>
  return %z : tensor<2xi1>
}

// CHECK-LABEL: func.func @relu_keeps_negative_zero(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[0.000000e+00, -0.000000e+00, 2.000000e+00]> : tensor<3xf32>
// CHECK-NEXT: return %[[C]]
func.func @relu_keeps_negative_zero() -> tensor<3xf32> {
  %a = ad.constant dense<[-1.0, -0.0, 2.0]> : tensor<3xf32>
  %z = ad.relu %a : tensor<3xf32>
  return %z : tensor<3xf32>
}

// CHECK-LABEL: func.func @sign(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[-1.000000e+00, -0.000000e+00, 1.000000e+00]> : tensor<3xf32>
// CHECK-NEXT: return %[[C]]
func.func @sign() -> tensor<3xf32> {
  %a = ad.constant dense<[-3.0, -0.0, 2.0]> : tensor<3xf32>
  %z = ad.sign %a : tensor<3xf32>
  return %z : tensor<3xf32>
}

// CHECK-LABEL: func.func @round_ties_to_even(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[2.000000e+00, 2.000000e+00, -0.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: return %[[C]]
func.func @round_ties_to_even() -> tensor<4xf32> {
  %a = ad.constant dense<[1.5, 2.5, -0.5, 3.5]> : tensor<4xf32>
  %z = ad.round_even %a : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @fused_multiply_add(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<-4.9303806576313238E-32> : tensor<f64>
// CHECK-NEXT: return %[[C]]
func.func @fused_multiply_add() -> tensor<f64> {
  %a = ad.constant dense<0x3FF0000000000001> : tensor<f64>
  %b = ad.constant dense<0x3FEFFFFFFFFFFFFE> : tensor<f64>
  %d = ad.constant dense<-1.0> : tensor<f64>
  %z = ad.fma %a, %b, %d : tensor<f64>
  return %z : tensor<f64>
}

// CHECK-LABEL: func.func @clamp(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[0.000000e+00, 5.000000e-01, 1.000000e+00]> : tensor<3xf32>
// CHECK-NEXT: return %[[C]]
func.func @clamp() -> tensor<3xf32> {
  %a = ad.constant dense<[-1.0, 0.5, 2.0]> : tensor<3xf32>
  %low = ad.constant dense<0.0> : tensor<f32>
  %high = ad.constant dense<1.0> : tensor<f32>
  %z = ad.clamp %a, %low, %high : tensor<3xf32>, tensor<f32>, tensor<f32>
  return %z : tensor<3xf32>
}

// CHECK-LABEL: func.func @large_splat(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<3.000000e+00> : tensor<100x100xf32>
// CHECK-NEXT: return %[[C]]
func.func @large_splat() -> tensor<100x100xf32> {
  %a = ad.constant dense<1.0> : tensor<100x1xf32>
  %b = ad.constant dense<2.0> : tensor<100xf32>
  %z = ad.add %a, %b : tensor<100x1xf32>, tensor<100xf32>
  return %z : tensor<100x100xf32>
}

// CHECK-LABEL: func.func @full(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT: return %[[C]]
func.func @full() -> tensor<4xf32> {
  %a = arith.constant 2.0 : f32
  %z = ad.full %a : f32 -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// A result of more than 4096 different elements stays an operation.
// CHECK-LABEL: func.func @large_result_stays(
// CHECK: ad.add
func.func @large_result_stays() -> tensor<3x2000xf32> {
  %a = ad.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %b = ad.constant dense<2.0> : tensor<2000xf32>
  %z = ad.add %a, %b : tensor<3x1xf32>, tensor<2000xf32>
  return %z : tensor<3x2000xf32>
}
