// RUN: ad-opt %s --verify-roundtrip | FileCheck %s
// RUN: ad-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @random(
// CHECK-SAME: %[[KEY:.+]]: tensor<i64>, %[[COUNTER:.+]]: tensor<4x?xi64>
func.func @random(%key: tensor<i64>, %counter: tensor<4x?xi64>) {
  // CHECK: ad.rng_bits %[[KEY]], %[[COUNTER]] : tensor<i64>, tensor<4x?xi64> -> tensor<4x?xi32>
  %a = ad.rng_bits %key, %counter : tensor<i64>, tensor<4x?xi64> -> tensor<4x?xi32>
  // CHECK: ad.rng_bits %[[KEY]], %[[KEY]] : tensor<i64>, tensor<i64> -> tensor<i64>
  %b = ad.rng_bits %key, %key : tensor<i64>, tensor<i64> -> tensor<i64>
  // CHECK: ad.rng_uniform {{.*}} -> tensor<4x?xf64>
  %c = ad.rng_uniform %key, %counter : tensor<i64>, tensor<4x?xi64> -> tensor<4x?xf64>
  // CHECK: ad.rng_normal {{.*}} -> tensor<4x?xf32>
  %d = ad.rng_normal %key, %counter : tensor<i64>, tensor<4x?xi64> -> tensor<4x?xf32>
  return
}

// CHECK-LABEL: func.func @cast_stochastic(
func.func @cast_stochastic(%x: tensor<4xf32>, %key: tensor<i64>, %counter: tensor<3x1xi64>) {
  // CHECK: ad.cast_stochastic {{.*}} : tensor<4xf32>, tensor<i64>, tensor<3x1xi64> -> tensor<3x4xbf16>
  %a = ad.cast_stochastic %x, %key, %counter : tensor<4xf32>, tensor<i64>, tensor<3x1xi64> -> tensor<3x4xbf16>
  return
}

// The published answer for counter 0 and key 0.
// FOLDED-LABEL: func.func @folded(
func.func @folded() -> (tensor<i32>, tensor<i64>) {
  %zero = ad.constant dense<0> : tensor<i64>
  // FOLDED-DAG: ad.constant dense<1713891541> : tensor<i32>
  %a = ad.rng_bits %zero, %zero : tensor<i64>, tensor<i64> -> tensor<i32>
  // FOLDED-DAG: ad.constant dense<7361108121267848589> : tensor<i64>
  %b = ad.rng_bits %zero, %zero : tensor<i64>, tensor<i64> -> tensor<i64>
  return %a, %b : tensor<i32>, tensor<i64>
}
