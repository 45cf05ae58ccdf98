// RUN: ad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @constant(
func.func @constant() {
  // CHECK: %cst = ad.constant dense<1.000000e+00> : tensor<4xf32>
  %a = ad.constant dense<1.0> : tensor<4xf32>
  // CHECK: ad.constant dense<{{\[}}[1, -2], [3, 4]]> : tensor<2x2xi8>
  %b = ad.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
  // CHECK: ad.constant dense<true> : tensor<i1>
  %c = ad.constant dense<true> : tensor<i1>
  // CHECK: ad.constant dense<4.480000e+02> : tensor<2xf8E4M3FN>
  %d = ad.constant dense<448.0> : tensor<2xf8E4M3FN>
  // CHECK: ad.constant dense<0x7C> : tensor<f8E5M2>
  %e = ad.constant dense<0x7C> : tensor<f8E5M2>
  // CHECK: ad.constant dense<> : tensor<0xbf16>
  %f = ad.constant dense<> : tensor<0xbf16>
  // CHECK: ad.constant dense_resource<weights> : tensor<2xf32>
  %g = ad.constant dense_resource<weights> : tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @full(
// CHECK-SAME: %[[VALUE:.+]]: f32, %[[FLAG:.+]]: i1, %[[N:.+]]: index
func.func @full(%value: f32, %flag: i1, %n: index) {
  // CHECK: ad.full %[[VALUE]](%[[N]]) : f32 -> tensor<?x4xf32>
  %a = ad.full %value(%n) : f32 -> tensor<?x4xf32>
  // CHECK: ad.full %[[FLAG]] : i1 -> tensor<i1>
  %b = ad.full %flag : i1 -> tensor<i1>
  return
}

// CHECK-LABEL: func.func @iota(
// CHECK-SAME: %[[N:.+]]: index
func.func @iota(%n: index) {
  // CHECK: ad.iota axis 1(%[[N]]) : tensor<?x4xi32>
  %a = ad.iota axis 1 (%n) : tensor<?x4xi32>
  // CHECK: ad.iota axis 0 : tensor<4xbf16>
  %b = ad.iota axis 0 : tensor<4xbf16>
  return
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
