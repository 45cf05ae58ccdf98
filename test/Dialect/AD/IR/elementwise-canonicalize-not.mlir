// RUN: ad-opt %s --canonicalize | FileCheck %s

// Look-alikes of identities that rounding, -0, NaN, infinity or a run-time size break: nothing may happen.

// CHECK-LABEL: func.func @add_positive_zero(
// CHECK: ad.add
func.func @add_positive_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<0.0> : tensor<4xf32>
  %z = ad.add %x, %c : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @sub_negative_zero(
// CHECK: ad.sub
func.func @sub_negative_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<-0.0> : tensor<4xf32>
  %z = ad.sub %x, %c : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @sub_of_same_floats(
// CHECK: ad.sub
func.func @sub_of_same_floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = ad.sub %x, %x : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_zero(
// CHECK: ad.mul
func.func @mul_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<0.0> : tensor<4xf32>
  %z = ad.mul %x, %c : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @div_by_three(
// CHECK: ad.div
func.func @div_by_three(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<3.0> : tensor<4xf32>
  %z = ad.div %x, %c : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @div_by_largest_power(
// CHECK: ad.div
func.func @div_by_largest_power(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<0x7F000000> : tensor<4xf32>
  %z = ad.div %x, %c : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @div_of_same(
// CHECK: ad.div
func.func @div_of_same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = ad.div %x, %x : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @equals_itself(
// CHECK: ad.compare eq
func.func @equals_itself(%x: tensor<4xf32>) -> tensor<4xi1> {
  %z = ad.compare eq %x, %x : tensor<4xf32>
  return %z : tensor<4xi1>
}

// CHECK-LABEL: func.func @mul_one_that_broadcasts(
// CHECK: ad.mul
func.func @mul_one_that_broadcasts(%x: tensor<1xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<1.0> : tensor<4xf32>
  %z = ad.mul %x, %c : tensor<1xf32>, tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @select_equal_that_may_broadcast(
// CHECK: ad.select
func.func @select_equal_that_may_broadcast(%c: tensor<?xi1>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %z = ad.select %c, %x, %x : tensor<?xi1>, tensor<?xf32>, tensor<?xf32>
  return %z : tensor<?xf32>
}

// CHECK-LABEL: func.func @select_equal_that_may_fail(
// CHECK: ad.select
func.func @select_equal_that_may_fail(%c: tensor<?xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %z = ad.select %c, %x, %x : tensor<?xi1>, tensor<4xf32>, tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_one_saturates(
// CHECK: ad.mul
func.func @mul_one_saturates(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %c = ad.constant dense<1.0> : tensor<4xf8E5M2>
  %z = ad.mul %x, %c : tensor<4xf8E5M2>
  return %z : tensor<4xf8E5M2>
}

// CHECK-LABEL: func.func @casts_that_round(
// CHECK: ad.cast %{{.+}} : tensor<4xf32> -> tensor<4xbf16>
// CHECK: ad.cast %{{.+}} : tensor<4xbf16> -> tensor<4xf32>
func.func @casts_that_round(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.cast %x : tensor<4xf32> -> tensor<4xbf16>
  %z = ad.cast %y : tensor<4xbf16> -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @casts_that_saturate(
// CHECK: ad.cast %{{.+}} : tensor<4xi32> -> tensor<4xf64>
// CHECK: ad.cast %{{.+}} : tensor<4xf64> -> tensor<4xi8>
func.func @casts_that_saturate(%x: tensor<4xi32>) -> tensor<4xi8> {
  %y = ad.cast %x : tensor<4xi32> -> tensor<4xf64>
  %z = ad.cast %y : tensor<4xf64> -> tensor<4xi8>
  return %z : tensor<4xi8>
}

// CHECK-LABEL: func.func @casts_of_f8_infinity(
// CHECK: ad.cast
// CHECK: ad.cast
func.func @casts_of_f8_infinity(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %y = ad.cast %x : tensor<4xf8E5M2> -> tensor<4xf32>
  %z = ad.cast %y : tensor<4xf32> -> tensor<4xf8E5M2>
  return %z : tensor<4xf8E5M2>
}
