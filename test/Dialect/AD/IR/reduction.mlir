// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @reduce_sum
func.func @reduce_sum(%x: tensor<4x?xf16>) -> (tensor<4x1xf16>, tensor<f32>, tensor<4x?xf16>) {
  // CHECK: ad.reduce_sum %{{.+}} axes [1] keep_dims : tensor<4x?xf16> -> tensor<4x1xf16>
  %a = ad.reduce_sum %x axes [1] keep_dims : tensor<4x?xf16> -> tensor<4x1xf16>
  // CHECK: ad.reduce_sum %{{.+}} axes [0, 1] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<4x?xf16> -> tensor<f32>
  %b = ad.reduce_sum %x axes [0, 1] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<4x?xf16> -> tensor<f32>
  // CHECK: ad.reduce_sum %{{.+}} axes [] : tensor<4x?xf16> -> tensor<4x?xf16>
  %c = ad.reduce_sum %x axes [] : tensor<4x?xf16> -> tensor<4x?xf16>
  return %a, %b, %c : tensor<4x1xf16>, tensor<f32>, tensor<4x?xf16>
}

// CHECK-LABEL: func.func @reduce_others
func.func @reduce_others(%x: tensor<4x3xf32>, %i: tensor<4x3xi8>)
    -> (tensor<3xf32>, tensor<i32>, tensor<3xf32>, tensor<4xi8>, tensor<1x1xf32>) {
  // CHECK: ad.reduce_prod %{{.+}} axes [0] : tensor<4x3xf32> -> tensor<3xf32>
  %a = ad.reduce_prod %x axes [0] : tensor<4x3xf32> -> tensor<3xf32>
  // CHECK: ad.reduce_prod %{{.+}} axes [0, 1] : tensor<4x3xi8> -> tensor<i32>
  %b = ad.reduce_prod %i axes [0, 1] : tensor<4x3xi8> -> tensor<i32>
  // CHECK: ad.reduce_max %{{.+}} axes [0] : tensor<4x3xf32> -> tensor<3xf32>
  %c = ad.reduce_max %x axes [0] : tensor<4x3xf32> -> tensor<3xf32>
  // CHECK: ad.reduce_min %{{.+}} axes [1] : tensor<4x3xi8> -> tensor<4xi8>
  %d = ad.reduce_min %i axes [1] : tensor<4x3xi8> -> tensor<4xi8>
  // CHECK: ad.reduce_mean %{{.+}} axes [0, 1] keep_dims {allow = #ad.allow<none>} : tensor<4x3xf32> -> tensor<1x1xf32>
  %e = ad.reduce_mean %x axes [0, 1] keep_dims {allow = #ad.allow<none>} : tensor<4x3xf32> -> tensor<1x1xf32>
  return %a, %b, %c, %d, %e : tensor<3xf32>, tensor<i32>, tensor<3xf32>, tensor<4xi8>, tensor<1x1xf32>
}

// CHECK-LABEL: func.func @index_of_extremum
func.func @index_of_extremum(%x: tensor<4x?xf32>, %i: tensor<3xi8>, %b1: tensor<3xi1>)
    -> (tensor<4xi64>, tensor<i64>, tensor<i64>) {
  // CHECK: ad.argmax %{{.+}} axis 1 : tensor<4x?xf32>
  %a = ad.argmax %x axis 1 : tensor<4x?xf32>
  // CHECK: ad.argmin %{{.+}} axis 0 : tensor<3xi8>
  %b = ad.argmin %i axis 0 : tensor<3xi8>
  // CHECK: ad.argmax %{{.+}} axis 0 : tensor<3xi1>
  %c = ad.argmax %b1 axis 0 : tensor<3xi1>
  return %a, %b, %c : tensor<4xi64>, tensor<i64>, tensor<i64>
}

// CHECK-LABEL: func.func @cumsum
func.func @cumsum(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // CHECK: ad.cumsum %{{.+}} axis 1 : tensor<4x?xf32>
  %y = ad.cumsum %x axis 1 : tensor<4x?xf32>
  // CHECK: ad.cumsum %{{.+}} axis 1 {order = #ad.order<chain = 4, chain = 2, chain>} : tensor<4x?xf32>
  %z = ad.cumsum %y axis 1 {order = #ad.order<chain = 4, chain = 2, chain>} : tensor<4x?xf32>
  return %z : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @other_running_reductions
func.func @other_running_reductions(%x: tensor<4x?xf32>, %i: tensor<3xi8>)
    -> (tensor<4x?xf32>, tensor<3xi8>, tensor<4x?xf32>) {
  // CHECK: ad.cumprod %{{.+}} axis 1 {order = #ad.order<chain>} : tensor<4x?xf32>
  %a = ad.cumprod %x axis 1 {order = #ad.order<chain>} : tensor<4x?xf32>
  // CHECK: ad.cummax %{{.+}} axis 0 : tensor<3xi8>
  %b = ad.cummax %i axis 0 : tensor<3xi8>
  // CHECK: ad.cummin %{{.+}} axis 0 : tensor<4x?xf32>
  %c = ad.cummin %x axis 0 : tensor<4x?xf32>
  return %a, %b, %c : tensor<4x?xf32>, tensor<3xi8>, tensor<4x?xf32>
}
