// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// CHECK-LABEL: func.func private @reduce_sum_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<?x3xf32>, %[[G:.+]]: tensor<?xf32>)
// CHECK:       %[[COLUMN:.+]] = ad.reshape %[[G]](%{{.+}}) : tensor<?xf32> -> tensor<?x1xf32>
// CHECK:       ad.broadcast %[[COLUMN]](%{{.+}}) : tensor<?x1xf32> -> tensor<?x3xf32>
func.func @reduce_sum_a1(%x: tensor<?x3xf32>) -> tensor<?xf32> {
  %y = ad.reduce_sum %x axes [1] : tensor<?x3xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// The number of elements is known.
// CHECK-LABEL: func.func private @reduce_mean_a1__vjp_0(
// CHECK-SAME:    %[[G:[^ ,]+]]: tensor<4xf32>)
// CHECK:       %[[ROW:.+]] = ad.reshape %[[G]] : tensor<4xf32> -> tensor<1x4x1xf32>
// CHECK:       %[[COUNT:.+]] = ad.constant dense<6.000000e+00> : tensor<f32>
// CHECK:       %[[SHARE:.+]] = ad.div %[[ROW]], %[[COUNT]] : tensor<1x4x1xf32>, tensor<f32>
// CHECK:       ad.broadcast %[[SHARE]] : tensor<1x4x1xf32> -> tensor<2x4x3xf32>
func.func @reduce_mean_a1(%x: tensor<2x4x3xf32>) -> tensor<4xf32> {
  %y = ad.reduce_mean %x axes [0, 2] : tensor<2x4x3xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// The first of equal elements gets everything: the number that argmax names.
// CHECK-LABEL: func.func private @reduce_max_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4x3xf32>, %[[G:.+]]: tensor<4xf32>)
// CHECK:       %[[FIRST:.+]] = ad.argmax %[[X]] axis 1 : tensor<4x3xf32>
// CHECK:       %[[NUMBERS:.+]] = ad.iota axis 1 : tensor<4x3xi64>
// CHECK:       %[[COLUMN:.+]] = ad.reshape %[[FIRST]] : tensor<4xi64> -> tensor<4x1xi64>
// CHECK:       %[[CHOSEN:.+]] = ad.compare eq %[[NUMBERS]], %[[COLUMN]]
// CHECK:       %[[ROWS:.+]] = ad.reshape %[[G]] : tensor<4xf32> -> tensor<4x1xf32>
// CHECK:       ad.select %[[CHOSEN]], %[[ROWS]], %{{.+}}
func.func @reduce_max_a1(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %y = ad.reduce_max %x axes [1] : tensor<4x3xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Several axes become one first, in row-major order.
// CHECK-LABEL: func.func private @reduce_min_a1_axes__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<2x4x3xf32>, %[[G:.+]]: tensor<4xf32>)
// CHECK:       %[[ORDERED:.+]] = ad.transpose %[[X]] [1, 0, 2] : tensor<2x4x3xf32>
// CHECK:       %[[FLAT:.+]] = ad.reshape %[[ORDERED]] : tensor<4x2x3xf32> -> tensor<4x6xf32>
// CHECK:       ad.argmin %[[FLAT]] axis 1 : tensor<4x6xf32>
// CHECK:       %[[BACK:.+]] = ad.reshape %{{.+}} : tensor<4x6xf32> -> tensor<4x2x3xf32>
// CHECK:       ad.transpose %[[BACK]] [1, 0, 2] : tensor<4x2x3xf32>
func.func @reduce_min_a1_axes(%x: tensor<2x4x3xf32>) -> tensor<4xf32> {
  %y = ad.reduce_min %x axes [0, 2] : tensor<2x4x3xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// No division, which a zero would break.
// CHECK-LABEL: func.func private @reduce_prod_a1__vjp_0(
// CHECK-NOT:   ad.div
// CHECK:       return
func.func @reduce_prod_a1(%x: tensor<4x5xf32>) -> tensor<4xf32> {
  %y = ad.reduce_prod %x axes [1] : tensor<4x5xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @cumsum_a1__vjp_0(
// CHECK-SAME:    %[[G:[^ ,]+]]: tensor<4x3xf32>)
// CHECK:       %[[REVERSED:.+]] = ad.reverse %[[G]] axes [1] : tensor<4x3xf32>
// CHECK:       %[[SUMS:.+]] = ad.cumsum %[[REVERSED]] axis 1 : tensor<4x3xf32>
// CHECK:       ad.reverse %[[SUMS]] axes [1] : tensor<4x3xf32>
func.func @cumsum_a1(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = ad.cumsum %x axis 1 : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

func.func @requests(%d: tensor<?x3xf32>, %dg: tensor<?xf32>, %t: tensor<2x4x3xf32>, %g: tensor<4xf32>,
                    %m: tensor<4x3xf32>, %p: tensor<4x5xf32>) {
  %sum:2 = ad.vjp @reduce_sum_a1(%d) cotangents(%dg) wrt [0]
    : (tensor<?x3xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?x3xf32>)
  %mean:2 = ad.vjp @reduce_mean_a1(%t) cotangents(%g) wrt [0]
    : (tensor<2x4x3xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4x3xf32>)
  %max:2 = ad.vjp @reduce_max_a1(%m) cotangents(%g) wrt [0]
    : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x3xf32>)
  %min:2 = ad.vjp @reduce_min_a1_axes(%t) cotangents(%g) wrt [0]
    : (tensor<2x4x3xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4x3xf32>)
  %prod:2 = ad.vjp @reduce_prod_a1(%p) cotangents(%g) wrt [0]
    : (tensor<4x5xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x5xf32>)
  %cumsum:2 = ad.vjp @cumsum_a1(%m) cotangents(%m) wrt [0]
    : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return
}
