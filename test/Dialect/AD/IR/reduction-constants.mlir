// RUN: ad-opt %s --canonicalize --split-input-file | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @integers
func.func @integers() -> (tensor<2xi8>, tensor<i32>, tensor<1x3xi8>, tensor<2x1xi8>, tensor<i8>) {
  // CHECK-DAG: %[[SUM:.+]] = ad.constant dense<[44, 15]> : tensor<2xi8>
  // CHECK-DAG: %[[ALL:.+]] = ad.constant dense<315> : tensor<i32>
  // CHECK-DAG: %[[MAX:.+]] = ad.constant dense<100> : tensor<1x3xi8>
  // CHECK-DAG: %[[MIN:.+]] = ad.constant dense<{{\[\[}}100], [4]]> : tensor<2x1xi8>
  // CHECK-DAG: %[[NONE:.+]] = ad.constant dense<-128> : tensor<i8>
  // CHECK: return %[[SUM]], %[[ALL]], %[[MAX]], %[[MIN]], %[[NONE]]
  %c = ad.constant dense<[[100, 100, 100], [4, 5, 6]]> : tensor<2x3xi8>
  %e = ad.constant dense<> : tensor<0xi8>
  %0 = ad.reduce_sum %c axes [1] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<2x3xi8> -> tensor<2xi8>
  %1 = ad.reduce_sum %c axes [0, 1] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<2x3xi8> -> tensor<i32>
  %2 = ad.reduce_max %c axes [0] keep_dims : tensor<2x3xi8> -> tensor<1x3xi8>
  %3 = ad.reduce_min %c axes [1] keep_dims : tensor<2x3xi8> -> tensor<2x1xi8>
  %4 = ad.reduce_max %e axes [0] : tensor<0xi8> -> tensor<i8>
  return %0, %1, %2, %3, %4 : tensor<2xi8>, tensor<i32>, tensor<1x3xi8>, tensor<2x1xi8>, tensor<i8>
}

// -----

// 2^24 + 1 rounds to 2^24: a chain loses each 1; two lanes keep 1 + 1.
// CHECK-LABEL: func.func @written_order
func.func @written_order() -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  // CHECK-DAG: %[[CHAIN:.+]] = ad.constant dense<0x4B800000> : tensor<f32>
  // CHECK-DAG: %[[LANES:.+]] = ad.constant dense<0x4B800001> : tensor<f32>
  // CHECK: return %[[CHAIN]], %[[LANES]], %[[LANES]]
  %c = ad.constant dense<[0x4B800000, 1.0, 0.0, 1.0]> : tensor<4xf32>
  %0 = ad.reduce_sum %c axes [0] {order = #ad.order<block = 512>} : tensor<4xf32> -> tensor<f32>
  %1 = ad.reduce_sum %c axes [0] {order = #ad.order<lanes = 2, chunk = 4096>} : tensor<4xf32> -> tensor<f32>
  %2 = ad.reduce_sum %c axes [0] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<4xf32> -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// Nothing rounds between axes, and the accumulator starts at +0.
// CHECK-LABEL: func.func @rounds_once
func.func @rounds_once() -> (tensor<f16>, tensor<f32>, tensor<f32>) {
  // CHECK-DAG: %[[SUM:.+]] = ad.constant dense<2.050000e+03> : tensor<f16>
  // CHECK-DAG: %[[ZERO:.+]] = ad.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[MEAN:.+]] = ad.constant dense<5.125000e+02> : tensor<f32>
  // CHECK: return %[[SUM]], %[[ZERO]], %[[MEAN]]
  %c = ad.constant dense<[[2048.0, 1.0], [1.0, 0.0]]> : tensor<2x2xf16>
  %z = ad.constant dense<-0.0> : tensor<1xf32>
  %0 = ad.reduce_sum %c axes [0, 1] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<2x2xf16> -> tensor<f16>
  %1 = ad.reduce_sum %z axes [0] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<1xf32> -> tensor<f32>
  %2 = ad.reduce_mean %c axes [0, 1] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<2x2xf16> -> tensor<f32>
  return %0, %1, %2 : tensor<f16>, tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @extrema
func.func @extrema() -> (tensor<2xf32>, tensor<2xf32>, tensor<f64>, tensor<f64>) {
  // CHECK-DAG: %[[MAX:.+]] = ad.constant dense<[0x7FC00000, 0.000000e+00]> : tensor<2xf32>
  // CHECK-DAG: %[[MIN:.+]] = ad.constant dense<[{{.+}}, -0.000000e+00]> : tensor<2xf32>
  // CHECK-DAG: %[[NONE:.+]] = ad.constant dense<0x7FF0000000000000> : tensor<f64>
  // CHECK-DAG: %[[ONE:.+]] = ad.constant dense<1.000000e+00> : tensor<f64>
  // CHECK: return %[[MAX]], %[[MIN]], %[[NONE]], %[[ONE]]
  %c = ad.constant dense<[[1.0, -0.0], [0x7FC00000, 0.0]]> : tensor<2x2xf32>
  %e = ad.constant dense<> : tensor<0xf64>
  %0 = ad.reduce_max %c axes [0] : tensor<2x2xf32> -> tensor<2xf32>
  %1 = ad.reduce_min %c axes [0] : tensor<2x2xf32> -> tensor<2xf32>
  %2 = ad.reduce_min %e axes [0] : tensor<0xf64> -> tensor<f64>
  %3 = ad.reduce_prod %e axes [0] {order = #ad.order<block = 512>} : tensor<0xf64> -> tensor<f64>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<f64>, tensor<f64>
}

// -----

// Before ad-set-numerics has written an order there is none to sum in.
// CHECK-LABEL: func.func @without_order_stays
func.func @without_order_stays() -> tensor<f32> {
  // CHECK: ad.reduce_sum
  %c = ad.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = ad.reduce_sum %c axes [0] : tensor<2xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
