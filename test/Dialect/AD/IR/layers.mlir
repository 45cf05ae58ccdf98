// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @one_hot
func.func @one_hot(%i: tensor<4x?xi8>) -> (tensor<4x?x10xbf16>, tensor<10x4x?xi1>) {
  // CHECK: ad.one_hot %{{.+}} axis 2 : tensor<4x?xi8> -> tensor<4x?x10xbf16>
  %a = ad.one_hot %i axis 2 : tensor<4x?xi8> -> tensor<4x?x10xbf16>
  // CHECK: ad.one_hot %{{.+}} axis 0 : tensor<4x?xi8> -> tensor<10x4x?xi1>
  %b = ad.one_hot %i axis 0 : tensor<4x?xi8> -> tensor<10x4x?xi1>
  return %a, %b : tensor<4x?x10xbf16>, tensor<10x4x?xi1>
}

// CHECK-LABEL: func.func @logsumexp
func.func @logsumexp(%x: tensor<4x?xf16>) -> tensor<?xf16> {
  // CHECK: ad.logsumexp %{{.+}} axis 0 {allow = #ad.allow<none>} : tensor<4x?xf16>
  %y = ad.logsumexp %x axis 0 {allow = #ad.allow<none>} : tensor<4x?xf16>
  return %y : tensor<?xf16>
}

// CHECK-LABEL: func.func @rotary_embedding
func.func @rotary_embedding(%x: tensor<2x?x16x8xf32>, %p: tensor<1x16xi32>, %q: tensor<i64>)
    -> (tensor<2x?x16x8xf32>, tensor<2x?x16x8xf32>) {
  // CHECK: ad.rotary_embedding %{{.+}}, %{{.+}} base 1.000000e+04 : tensor<2x?x16x8xf32>, tensor<1x16xi32>
  %a = ad.rotary_embedding %x, %p base 1.0e4 : tensor<2x?x16x8xf32>, tensor<1x16xi32>
  // CHECK: ad.rotary_embedding %{{.+}}, %{{.+}} base 5.000000e+05 interleaved : tensor<2x?x16x8xf32>, tensor<i64>
  %b = ad.rotary_embedding %x, %q base 5.0e5 interleaved : tensor<2x?x16x8xf32>, tensor<i64>
  return %a, %b : tensor<2x?x16x8xf32>, tensor<2x?x16x8xf32>
}

// CHECK-LABEL: func.func @dropout
func.func @dropout(%x: tensor<?x3xf32>, %key: tensor<i64>, %counter: tensor<i64>) -> tensor<?x3xf32> {
  // CHECK: ad.dropout %{{.+}}, %{{.+}}, %{{.+}} rate 1.000000e-01 : tensor<?x3xf32>
  %y = ad.dropout %x, %key, %counter rate 0.1 : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<?x8x4x?xbf16>, %s: tensor<8xbf16>, %m: tensor<8xf32>)
    -> (tensor<?x8x4x?xbf16>, tensor<?x8x4x?xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<?x8x4x?xbf16>) {
  // CHECK: ad.group_norm %{{.+}}, %{{.+}}, %{{.+}} groups 4 axis 1 epsilon 1.000000e-05 : tensor<?x8x4x?xbf16>, tensor<8xbf16>
  %a = ad.group_norm %x, %s, %s groups 4 axis 1 epsilon 1.0e-5 : tensor<?x8x4x?xbf16>, tensor<8xbf16>
  // CHECK: ad.batch_norm %{{.+}}, %{{.+}}, %{{.+}} axis 1 epsilon 0.000000e+00 : tensor<?x8x4x?xbf16>, tensor<8xbf16>
  %b:3 = ad.batch_norm %x, %s, %s axis 1 epsilon 0.0 : tensor<?x8x4x?xbf16>, tensor<8xbf16>
  // CHECK: ad.batch_norm_inference %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} axis 1 epsilon 1.000000e-05 : tensor<?x8x4x?xbf16>, tensor<8xbf16>, tensor<8xf32>
  %c = ad.batch_norm_inference %x, %s, %s, %m, %m axis 1 epsilon 1.0e-5 : tensor<?x8x4x?xbf16>, tensor<8xbf16>, tensor<8xf32>
  return %a, %b#0, %b#1, %b#2, %c : tensor<?x8x4x?xbf16>, tensor<?x8x4x?xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<?x8x4x?xbf16>
}
