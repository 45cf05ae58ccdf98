// RUN: ad-opt %s --ad-differentiate --split-input-file --verify-diagnostics | FileCheck %s --enable-var-scope

// Of the input: strides become dilations of the cotangent, and the filter is
// reversed, with the channels of the input last. Of the filter: they become
// dilations of the filter that the cotangent is. The last element of the input is in no window.
// CHECK-LABEL: func.func private @conv_a1_a2__vjp_0_1(
// CHECK-SAME:    %[[X:.+]]: tensor<8x3xf32>, %[[W:.+]]: tensor<3x3x2xf32>, %[[G:.+]]: tensor<3x2xf32>)
// CHECK-DAG:   %[[R:.+]] = ad.reverse %[[W]] axes [0]
// CHECK-DAG:   %[[T:.+]] = ad.transpose %[[R]] [0, 2, 1] : tensor<3x3x2xf32>
// CHECK-DAG:   %[[DX:.+]] = ad.conv %[[G]], %[[T]] dims "0o,0oc->0c" strides [1] low [1] high [4] input_dilation [2] filter_dilation [1] : (tensor<3x2xf32>, tensor<3x2x3xf32>) -> tensor<8x3xf32>
// CHECK-DAG:   %[[DW:.+]] = ad.conv %[[X]], %[[G]] dims "0c,0o->0co" strides [1] low [1] high [-2] input_dilation [1] filter_dilation [2] : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<3x3x2xf32>
// CHECK:       return %{{.+}}, %[[DX]], %[[DW]]
func.func @conv_a1_a2(%x: tensor<8x3xf32>, %w: tensor<3x3x2xf32>) -> tensor<3x2xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" strides [2] low [1] high [-1] : (tensor<8x3xf32>, tensor<3x3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
func.func @main(%x: tensor<8x3xf32>, %w: tensor<3x3x2xf32>, %g: tensor<3x2xf32>) -> (tensor<8x3xf32>, tensor<3x3x2xf32>) {
  %r:3 = ad.vjp @conv_a1_a2(%x, %w) cotangents(%g) wrt [0, 1]
      : (tensor<8x3xf32>, tensor<3x3x2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<8x3xf32>, tensor<3x3x2xf32>)
  return %r#1, %r#2 : tensor<8x3xf32>, tensor<3x3x2xf32>
}

// -----

func.func @open_filter(%x: tensor<8xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{has no derivative of its input where the filter's size along spatial axis 0 is dynamic; give the filter static spatial sizes}}
  %y = ad.conv %x, %w dims "0,0->0" : (tensor<8xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @main(%x: tensor<8xf32>, %w: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<8xf32> {
  %r:2 = ad.vjp @open_filter(%x, %w) cotangents(%g) wrt [0] : (tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// -----

// The first of the largest elements gets the cotangent.
// CHECK-LABEL: func.func private @reduce_window_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4x?xf32>, %[[G:.+]]: tensor<2x?xf32>)
// CHECK:       %[[P:.+]] = ad.arg_reduce_window max %[[X]] window [2, 2] strides [2, 1] : tensor<4x?xf32>
// CHECK:       %[[D:.+]] = ad.spread_window %[[G]] at %[[P]] window [2, 2] strides [2, 1](%{{.+}}) : (tensor<2x?xf32>, tensor<2x?xi64>) -> tensor<4x?xf32>
// CHECK:       return %{{.+}}, %[[D]]
func.func @reduce_window_a1(%x: tensor<4x?xf32>) -> tensor<2x?xf32> {
  %y = ad.reduce_window max %x window [2, 2] strides [2, 1] : tensor<4x?xf32>
  return %y : tensor<2x?xf32>
}
// CHECK-LABEL: func.func private @mean__vjp_0(
// CHECK-SAME:    %{{.+}}: tensor<4x6xf32>, %[[G:.+]]: tensor<2x3xf32>)
// CHECK:       %[[N:.+]] = ad.constant dense<4.000000e+00> : tensor<f32>
// CHECK:       %[[Q:.+]] = ad.div %[[G]], %[[N]]
// CHECK:       ad.spread_window %[[Q]] window [2, 2] strides [2, 2] : (tensor<2x3xf32>) -> tensor<4x6xf32>
func.func @mean(%x: tensor<4x6xf32>) -> tensor<2x3xf32> {
  %y = ad.reduce_window mean %x window [2, 2] strides [2, 2] : tensor<4x6xf32>
  return %y : tensor<2x3xf32>
}
// CHECK-LABEL: func.func private @spread_window_a1__vjp_0(
// CHECK-SAME:    %{{.+}}: tensor<2x3xf32>, %[[P:.+]]: tensor<2x3xi64>, %[[G:.+]]: tensor<4x6xf32>)
// CHECK:       ad.reduce_window sum %[[G]] at %[[P]] window [2, 2] strides [2, 2] : tensor<4x6xf32>, tensor<2x3xi64>
func.func @spread_window_a1(%x: tensor<2x3xf32>, %p: tensor<2x3xi64>) -> tensor<4x6xf32> {
  %y = ad.spread_window %x at %p window [2, 2] strides [2, 2] : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @main(%x: tensor<4x?xf32>, %g: tensor<2x?xf32>, %m: tensor<4x6xf32>, %n: tensor<2x3xf32>, %p: tensor<2x3xi64>)
    -> (tensor<4x?xf32>, tensor<4x6xf32>, tensor<2x3xf32>) {
  %max:2 = ad.vjp @reduce_window_a1(%x) cotangents(%g) wrt [0] : (tensor<4x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<4x?xf32>)
  %mean:2 = ad.vjp @mean(%m) cotangents(%n) wrt [0] : (tensor<4x6xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x6xf32>)
  %spread:2 = ad.vjp @spread_window_a1(%n, %p) cotangents(%m) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2x3xf32>)
  return %max#1, %mean#1, %spread#1 : tensor<4x?xf32>, tensor<4x6xf32>, tensor<2x3xf32>
}
