// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// The cotangent of each operand goes back to the positions of one argsort.
// CHECK-LABEL: func.func private @sort_a1__vjp_0_1(
// CHECK-SAME:    %[[K:.+]]: tensor<4x3xf32>, %{{.+}}: tensor<4x3xf64>, %[[GK:.+]]: tensor<4x3xf32>, %[[GX:.+]]: tensor<4x3xf64>)
// CHECK:       %[[P:.+]] = ad.argsort %[[K]] axis 1 descending : tensor<4x3xf32>
// CHECK:       %[[DK:.+]] = ad.scatter set %{{.+}}[%[[P]]], %[[GK]] axes [1] batch [0] x [0] outside drop
// CHECK-NOT:   ad.argsort
// CHECK:       %[[DX:.+]] = ad.scatter set %{{.+}}[%[[P]]], %[[GX]] axes [1] batch [0] x [0] outside drop
// CHECK:       return %{{.+}}, %{{.+}}, %[[DK]], %[[DX]]
func.func @sort_a1(%k: tensor<4x3xf32>, %x: tensor<4x3xf64>) -> (tensor<4x3xf32>, tensor<4x3xf64>) {
  %y:2 = ad.sort %k, %x axis 1 descending : tensor<4x3xf32>, tensor<4x3xf64>
  return %y#0, %y#1 : tensor<4x3xf32>, tensor<4x3xf64>
}

// The positions are those of the operation.
// CHECK-LABEL: func.func private @top_k_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4x3xf32>, %[[G:.+]]: tensor<2x3xf32>)
// CHECK:       %{{.+}}, %[[P:.+]] = ad.top_k %[[X]] axis 0 k 2 : tensor<4x3xf32>
// CHECK:       ad.scatter set %{{.+}}[%[[P]]], %[[G]] axes [0] batch [1] x [1] outside drop : tensor<4x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>
func.func @top_k_a1(%x: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %v, %p = ad.top_k %x axis 0 k 2 : tensor<4x3xf32>
  return %v : tensor<2x3xf32>
}

func.func @main(%k: tensor<4x3xf32>, %x: tensor<4x3xf64>, %g: tensor<2x3xf32>)
    -> (tensor<4x3xf32>, tensor<4x3xf64>, tensor<4x3xf32>) {
  %sort:4 = ad.vjp @sort_a1(%k, %x) cotangents(%k, %x) wrt [0, 1]
      : (tensor<4x3xf32>, tensor<4x3xf64>, tensor<4x3xf32>, tensor<4x3xf64>)
      -> (tensor<4x3xf32>, tensor<4x3xf64>, tensor<4x3xf32>, tensor<4x3xf64>)
  %top:2 = ad.vjp @top_k_a1(%k) cotangents(%g) wrt [0]
      : (tensor<4x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>)
  return %sort#2, %sort#3, %top#1 : tensor<4x3xf32>, tensor<4x3xf64>, tensor<4x3xf32>
}
