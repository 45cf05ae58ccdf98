// RUN: ad-opt %s --canonicalize --split-input-file | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @no_axes
// CHECK-SAME: %[[X:.+]]: tensor<?x3xf16>
func.func @no_axes(%x: tensor<?x3xf16>) -> (tensor<?x3xf16>, tensor<?x3xf32>) {
  // CHECK-NEXT: %[[WIDE:.+]] = ad.cast %[[X]] {allow = #ad.allow<mma>} : tensor<?x3xf16> -> tensor<?x3xf32>
  // CHECK-NEXT: return %[[X]], %[[WIDE]]
  %0 = ad.reduce_max %x axes [] : tensor<?x3xf16> -> tensor<?x3xf16>
  %1 = ad.reduce_sum %0 axes [] keep_dims : tensor<?x3xf16> -> tensor<?x3xf16>
  %2 = ad.reduce_mean %1 axes [] {allow = #ad.allow<mma>} : tensor<?x3xf16> -> tensor<?x3xf32>
  return %1, %2 : tensor<?x3xf16>, tensor<?x3xf32>
}

// -----

// An accumulator starts at +0, so that the sum of one -0 is +0: not the identity.
// CHECK-LABEL: func.func @axis_of_one_element_stays
func.func @axis_of_one_element_stays(%x: tensor<1xf32>) -> tensor<f32> {
  // CHECK: ad.reduce_sum
  %0 = ad.reduce_sum %x axes [0] : tensor<1xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The rounding to the result makes infinities finite.
// CHECK-LABEL: func.func @f8E5M2_stays
func.func @f8E5M2_stays(%x: tensor<3xf8E5M2>) -> tensor<3xf8E5M2> {
  // CHECK: ad.reduce_sum
  %0 = ad.reduce_sum %x axes [] : tensor<3xf8E5M2> -> tensor<3xf8E5M2>
  return %0 : tensor<3xf8E5M2>
}
