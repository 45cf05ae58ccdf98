// RUN: ad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @abs(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.abs %[[X]] : tensor<4x?xf32>
func.func @abs(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.abs %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @neg(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xi8>
// CHECK: ad.neg %[[X]] : tensor<4x?xi8>
func.func @neg(%x: tensor<4x?xi8>) -> tensor<4x?xi8> {
  %y = ad.neg %x : tensor<4x?xi8>
  return %y : tensor<4x?xi8>
}

// CHECK-LABEL: func.func @sign(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xi64>
// CHECK: ad.sign %[[X]] : tensor<4x?xi64>
func.func @sign(%x: tensor<4x?xi64>) -> tensor<4x?xi64> {
  %y = ad.sign %x : tensor<4x?xi64>
  return %y : tensor<4x?xi64>
}

// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf64>
// CHECK: ad.exp %[[X]] : tensor<4x?xf64>
func.func @exp(%x: tensor<4x?xf64>) -> tensor<4x?xf64> {
  %y = ad.exp %x : tensor<4x?xf64>
  return %y : tensor<4x?xf64>
}

// CHECK-LABEL: func.func @exp2(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf16>
// CHECK: ad.exp2 %[[X]] : tensor<4x?xf16>
func.func @exp2(%x: tensor<4x?xf16>) -> tensor<4x?xf16> {
  %y = ad.exp2 %x : tensor<4x?xf16>
  return %y : tensor<4x?xf16>
}

// CHECK-LABEL: func.func @expm1(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xbf16>
// CHECK: ad.expm1 %[[X]] : tensor<4x?xbf16>
func.func @expm1(%x: tensor<4x?xbf16>) -> tensor<4x?xbf16> {
  %y = ad.expm1 %x : tensor<4x?xbf16>
  return %y : tensor<4x?xbf16>
}

// CHECK-LABEL: func.func @log(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf8E4M3FN>
// CHECK: ad.log %[[X]] : tensor<4x?xf8E4M3FN>
func.func @log(%x: tensor<4x?xf8E4M3FN>) -> tensor<4x?xf8E4M3FN> {
  %y = ad.log %x : tensor<4x?xf8E4M3FN>
  return %y : tensor<4x?xf8E4M3FN>
}

// CHECK-LABEL: func.func @log2(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf8E5M2>
// CHECK: ad.log2 %[[X]] : tensor<4x?xf8E5M2>
func.func @log2(%x: tensor<4x?xf8E5M2>) -> tensor<4x?xf8E5M2> {
  %y = ad.log2 %x : tensor<4x?xf8E5M2>
  return %y : tensor<4x?xf8E5M2>
}

// CHECK-LABEL: func.func @log1p(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.log1p %[[X]] : tensor<4x?xf32>
func.func @log1p(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.log1p %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @sin(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.sin %[[X]] : tensor<4x?xf32>
func.func @sin(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.sin %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @cos(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf64>
// CHECK: ad.cos %[[X]] : tensor<4x?xf64>
func.func @cos(%x: tensor<4x?xf64>) -> tensor<4x?xf64> {
  %y = ad.cos %x : tensor<4x?xf64>
  return %y : tensor<4x?xf64>
}

// CHECK-LABEL: func.func @tan(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.tan %[[X]] : tensor<4x?xf32>
func.func @tan(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.tan %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xbf16>
// CHECK: ad.tanh %[[X]] : tensor<4x?xbf16>
func.func @tanh(%x: tensor<4x?xbf16>) -> tensor<4x?xbf16> {
  %y = ad.tanh %x : tensor<4x?xbf16>
  return %y : tensor<4x?xbf16>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.sqrt %[[X]] : tensor<4x?xf32>
func.func @sqrt(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.sqrt %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf16>
// CHECK: ad.rsqrt %[[X]] : tensor<4x?xf16>
func.func @rsqrt(%x: tensor<4x?xf16>) -> tensor<4x?xf16> {
  %y = ad.rsqrt %x : tensor<4x?xf16>
  return %y : tensor<4x?xf16>
}

// CHECK-LABEL: func.func @recip(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.recip %[[X]] : tensor<4x?xf32>
func.func @recip(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.recip %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @erf(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf64>
// CHECK: ad.erf %[[X]] : tensor<4x?xf64>
func.func @erf(%x: tensor<4x?xf64>) -> tensor<4x?xf64> {
  %y = ad.erf %x : tensor<4x?xf64>
  return %y : tensor<4x?xf64>
}

// CHECK-LABEL: func.func @floor(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.floor %[[X]] : tensor<4x?xf32>
func.func @floor(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.floor %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @ceil(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf16>
// CHECK: ad.ceil %[[X]] : tensor<4x?xf16>
func.func @ceil(%x: tensor<4x?xf16>) -> tensor<4x?xf16> {
  %y = ad.ceil %x : tensor<4x?xf16>
  return %y : tensor<4x?xf16>
}

// CHECK-LABEL: func.func @round_even(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.round_even %[[X]] : tensor<4x?xf32>
func.func @round_even(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.round_even %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.sigmoid %[[X]] : tensor<4x?xf32>
func.func @sigmoid(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.sigmoid %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xbf16>
// CHECK: ad.relu %[[X]] : tensor<4x?xbf16>
func.func @relu(%x: tensor<4x?xbf16>) -> tensor<4x?xbf16> {
  %y = ad.relu %x : tensor<4x?xbf16>
  return %y : tensor<4x?xbf16>
}

// CHECK-LABEL: func.func @silu(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf16>
// CHECK: ad.silu %[[X]] : tensor<4x?xf16>
func.func @silu(%x: tensor<4x?xf16>) -> tensor<4x?xf16> {
  %y = ad.silu %x : tensor<4x?xf16>
  return %y : tensor<4x?xf16>
}

// CHECK-LABEL: func.func @softplus(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xf32>
// CHECK: ad.softplus %[[X]] : tensor<4x?xf32>
func.func @softplus(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = ad.softplus %x : tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @not(
// CHECK-SAME: %[[X:.+]]: tensor<4x?xi1>
// CHECK: ad.not %[[X]] : tensor<4x?xi1>
func.func @not(%x: tensor<4x?xi1>) -> tensor<4x?xi1> {
  %y = ad.not %x : tensor<4x?xi1>
  return %y : tensor<4x?xi1>
}
