// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// CHECK-LABEL: func.func private @softmax_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4x3xf32>, %[[G:.+]]: tensor<4x3xf32>)
// CHECK:       %[[Y:.+]] = ad.softmax %[[X]] axis 1 : tensor<4x3xf32>
// CHECK:       %[[PRODUCT:.+]] = ad.mul %[[G]], %[[Y]] : tensor<4x3xf32>
// CHECK:       %[[SUM:.+]] = ad.reduce_sum %[[PRODUCT]] axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
// CHECK:       %[[REST:.+]] = ad.sub %[[G]], %[[SUM]] : tensor<4x3xf32>, tensor<4x1xf32>
// CHECK:       ad.mul %[[Y]], %[[REST]] : tensor<4x3xf32>
func.func @softmax_a1(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = ad.softmax %x axis 1 : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Narrow rows are normalized in f32; the gradient of the bias needs nothing but the cotangent.
// CHECK-LABEL: func.func private @layer_norm_a1__vjp_0_2(
// CHECK:       ad.reduce_mean %{{.+}} axes [1] keep_dims : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK:       ad.rsqrt %{{.+}} : tensor<4x1xf32>
// CHECK:       ad.cast %{{.+}} : tensor<4x8xf32> -> tensor<4x8xf16>
// CHECK:       %[[BIAS:.+]] = ad.sum_to_shape %{{.+}} : tensor<4x8xf32> -> tensor<8xf32>
// CHECK:       ad.cast %[[BIAS]] : tensor<8xf32> -> tensor<8xf16>
func.func @layer_norm_a1(%x: tensor<4x8xf16>, %scale: tensor<8xf16>, %bias: tensor<8xf16>) -> tensor<4x8xf16> {
  %y = ad.layer_norm %x, %scale, %bias epsilon 1.0e-5 : tensor<4x8xf16>, tensor<8xf16>
  return %y : tensor<4x8xf16>
}

// Rows whose class number is outside give nothing, whatever their softmax is: the mask comes last.
// CHECK-LABEL: func.func private @cross_entropy_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4x3xf32>, %[[LABELS:.+]]: tensor<4xi32>, %[[G:.+]]: tensor<4xf32>)
// CHECK-DAG:   %[[ROWS:.+]] = ad.reshape %[[G]] : tensor<4xf32> -> tensor<4x1xf32>
// CHECK-DAG:   %[[COLUMN:.+]] = ad.reshape %[[LABELS]] : tensor<4xi32> -> tensor<4x1xi32>
// CHECK:       %[[LOW:.+]] = ad.compare ge %[[COLUMN]], %{{.+}} : tensor<4x1xi32>, tensor<i32>
// CHECK:       %[[HIGH:.+]] = ad.compare lt %[[COLUMN]], %{{.+}} : tensor<4x1xi32>, tensor<i32>
// CHECK:       %[[INSIDE:.+]] = ad.and %[[LOW]], %[[HIGH]]
// CHECK:       %[[SOFTMAX:.+]] = ad.softmax %[[X]] axis 1
// CHECK:       %[[STEP:.+]] = ad.sub %[[SOFTMAX]], %{{.+}} : tensor<4x3xf32>
// CHECK:       %[[PRODUCT:.+]] = ad.mul %[[ROWS]], %[[STEP]] : tensor<4x1xf32>, tensor<4x3xf32>
// CHECK:       ad.select %[[INSIDE]], %[[PRODUCT]], %{{.+}} : tensor<4x1xi1>, tensor<4x3xf32>, tensor<f32>
func.func @cross_entropy_a1(%x: tensor<4x3xf32>, %labels: tensor<4xi32>) -> tensor<4xf32> {
  %y = ad.cross_entropy %x, %labels : tensor<4x3xf32>, tensor<4xi32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @requests(%x: tensor<4x3xf32>, %n: tensor<4x8xf16>, %s: tensor<8xf16>, %labels: tensor<4xi32>,
                    %g: tensor<4xf32>) {
  %softmax:2 = ad.vjp @softmax_a1(%x) cotangents(%x) wrt [0]
    : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  %norm:3 = ad.vjp @layer_norm_a1(%n, %s, %s) cotangents(%n) wrt [0, 2]
    : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>, tensor<8xf16>)
  %entropy:2 = ad.vjp @cross_entropy_a1(%x, %labels) cotangents(%g) wrt [0]
    : (tensor<4x3xf32>, tensor<4xi32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x3xf32>)
  return
}
