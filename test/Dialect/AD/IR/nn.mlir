// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x?xf32>) -> (tensor<4x?xf32>, tensor<4x?xf32>) {
  // CHECK: ad.softmax %{{.+}} axis 1 : tensor<4x?xf32>
  %y = ad.softmax %x axis 1 : tensor<4x?xf32>
  // CHECK: ad.log_softmax %{{.+}} axis 0 {order = #ad.order<block = 512>} : tensor<4x?xf32>
  %z = ad.log_softmax %x axis 0 {order = #ad.order<block = 512>} : tensor<4x?xf32>
  return %y, %z : tensor<4x?xf32>, tensor<4x?xf32>
}

// CHECK-LABEL: func.func @normalizations
func.func @normalizations(%x: tensor<4x8xbf16>, %s: tensor<8xbf16>, %d: tensor<4x?xbf16>)
    -> (tensor<4x8xbf16>, tensor<4x?xbf16>) {
  // CHECK: ad.layer_norm %{{.+}}, %{{.+}}, %{{.+}} epsilon 1.000000e-05 : tensor<4x8xbf16>, tensor<8xbf16>
  %y = ad.layer_norm %x, %s, %s epsilon 1.0e-5 : tensor<4x8xbf16>, tensor<8xbf16>
  // CHECK: ad.rms_norm %{{.+}}, %{{.+}} epsilon 0.000000e+00 : tensor<4x?xbf16>, tensor<8xbf16>
  %z = ad.rms_norm %d, %s epsilon 0.0 : tensor<4x?xbf16>, tensor<8xbf16>
  return %y, %z : tensor<4x8xbf16>, tensor<4x?xbf16>
}

// CHECK-LABEL: func.func @cross_entropy
func.func @cross_entropy(%l: tensor<32x10xf32>, %c: tensor<?xi32>, %p: tensor<32x?xf32>, %v: tensor<10xf32>,
                         %k: tensor<i64>) -> (tensor<32xf32>, tensor<32xf32>, tensor<f32>) {
  // CHECK: ad.cross_entropy %{{.+}}, %{{.+}} : tensor<32x10xf32>, tensor<?xi32> -> tensor<32xf32>
  %a = ad.cross_entropy %l, %c : tensor<32x10xf32>, tensor<?xi32> -> tensor<32xf32>
  // CHECK: ad.cross_entropy %{{.+}}, %{{.+}} : tensor<32x10xf32>, tensor<32x?xf32> -> tensor<32xf32>
  %b = ad.cross_entropy %l, %p : tensor<32x10xf32>, tensor<32x?xf32> -> tensor<32xf32>
  // CHECK: ad.cross_entropy %{{.+}}, %{{.+}} ignored -100 : tensor<10xf32>, tensor<i64> -> tensor<f32>
  %d = ad.cross_entropy %v, %k ignored -100 : tensor<10xf32>, tensor<i64> -> tensor<f32>
  return %a, %b, %d : tensor<32xf32>, tensor<32xf32>, tensor<f32>
}
