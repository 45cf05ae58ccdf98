// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<2x9x?x3xbf16>, %w: tensor<2x3x3x4xbf16>) -> (tensor<2x8x?x4xbf16>, tensor<2x5x?x4xf32>) {
  // CHECK: ad.conv %{{.+}}, %{{.+}} dims "b01c,01co->b01o" : (tensor<2x9x?x3xbf16>, tensor<2x3x3x4xbf16>) -> tensor<2x8x?x4xbf16>
  %y = ad.conv %x, %w dims "b01c,01co->b01o" : (tensor<2x9x?x3xbf16>, tensor<2x3x3x4xbf16>) -> tensor<2x8x?x4xbf16>
  // (9 - 1) * 2 + 1 + 2 - 1 elements, windows of 1 * 5 + 1, strides of 3.
  // CHECK: ad.conv %{{.+}}, %{{.+}} dims "b01c,01co->b01o" strides [3, 1] low [2, 0] high [-1, 1] input_dilation [2, 1] filter_dilation [5, 1] {order = #ad.order<chain>} : {{.*}} -> tensor<2x5x?x4xf32>
  %z = ad.conv %x, %w dims "b01c,01co->b01o" strides [3, 1] low [2, 0] high [-1, 1] input_dilation [2, 1]
      filter_dilation [5, 1] {order = #ad.order<chain>} : (tensor<2x9x?x3xbf16>, tensor<2x3x3x4xbf16>) -> tensor<2x5x?x4xf32>
  return %y, %z : tensor<2x8x?x4xbf16>, tensor<2x5x?x4xf32>
}

// Groups, depthwise, one axis, no axis; a filter that is larger than its input has no place.
// CHECK-LABEL: func.func @conv_letters
func.func @conv_letters(%x: tensor<5x2x6xf32>, %w: tensor<2x3x6x4xf32>, %d: tensor<3x6x2xf32>, %m: tensor<6x7xf32>,
                        %long: tensor<9x2x6xf32>) {
  // CHECK: dims "0gc,g0co->go0" : {{.*}} -> tensor<2x4x3xf32>
  %grouped = ad.conv %x, %w dims "0gc,g0co->go0" : (tensor<5x2x6xf32>, tensor<2x3x6x4xf32>) -> tensor<2x4x3xf32>
  // CHECK: dims "0bc,0cm->b0cm" : {{.*}} -> tensor<2x3x6x2xf32>
  %depthwise = ad.conv %x, %d dims "0bc,0cm->b0cm" : (tensor<5x2x6xf32>, tensor<3x6x2xf32>) -> tensor<2x3x6x2xf32>
  // CHECK: dims "abc,co->abo" : {{.*}} -> tensor<5x2x7xf32>
  %product = ad.conv %x, %m dims "abc,co->abo" : (tensor<5x2x6xf32>, tensor<6x7xf32>) -> tensor<5x2x7xf32>
  // CHECK: dims "0bc,0oc->0bo" : {{.*}} -> tensor<0x2x2xf32>
  %none = ad.conv %x, %long dims "0bc,0oc->0bo" : (tensor<5x2x6xf32>, tensor<9x2x6xf32>) -> tensor<0x2x2xf32>
  return
}

// CHECK-LABEL: func.func @reduce_window
func.func @reduce_window(%x: tensor<8x?xf16>, %p: tensor<4x?xi64>) -> (tensor<4x?xf16>, tensor<7x?xf16>, tensor<4x?xf16>) {
  // CHECK: ad.reduce_window max %{{.+}} window [2, 3] strides [2, 1] : tensor<8x?xf16>
  %max = ad.reduce_window max %x window [2, 3] strides [2, 1] : tensor<8x?xf16>
  // CHECK: ad.reduce_window mean %{{.+}} window [2, 3] strides [1, 2] dilation [2, 1] low [1, 0] high [0, 4] {allow = #ad.allow<reorder>} : tensor<8x?xf16>
  %mean = ad.reduce_window mean %x window [2, 3] strides [1, 2] dilation [2, 1] low [1, 0] high [0, 4]
      {allow = #ad.allow<reorder>} : tensor<8x?xf16>
  // CHECK: ad.reduce_window sum %{{.+}} at %{{.+}} window [2, 3] strides [2, 1] : tensor<8x?xf16>, tensor<4x?xi64>
  %sum = ad.reduce_window sum %x at %p window [2, 3] strides [2, 1] : tensor<8x?xf16>, tensor<4x?xi64>
  // CHECK: return %{{.+}}, %{{.+}}, %{{.+}} : tensor<4x?xf16>, tensor<7x?xf16>, tensor<4x?xf16>
  return %max, %mean, %sum : tensor<4x?xf16>, tensor<7x?xf16>, tensor<4x?xf16>
}

// CHECK-LABEL: func.func @arg_reduce_window
func.func @arg_reduce_window(%x: tensor<4x6xi8>) -> (tensor<2x3xi64>, tensor<0x6xi64>) {
  // CHECK: ad.arg_reduce_window min %{{.+}} window [2, 2] strides [2, 2] : tensor<4x6xi8>
  %p = ad.arg_reduce_window min %x window [2, 2] strides [2, 2] : tensor<4x6xi8>
  // CHECK: ad.arg_reduce_window max %{{.+}} window [5, 1] : tensor<4x6xi8>
  %q = ad.arg_reduce_window max %x window [5, 1] : tensor<4x6xi8>
  return %p, %q : tensor<2x3xi64>, tensor<0x6xi64>
}

// CHECK-LABEL: func.func @spread_window
func.func @spread_window(%g: tensor<2x?xf32>, %p: tensor<2x?xi32>, %n: index) -> (tensor<4x?xf32>, tensor<5x?xf32>) {
  // CHECK: ad.spread_window %{{.+}} window [2, 2] strides [2, 2](%{{.+}}) : (tensor<2x?xf32>) -> tensor<4x?xf32>
  %y = ad.spread_window %g window [2, 2] strides [2, 2](%n) : (tensor<2x?xf32>) -> tensor<4x?xf32>
  // CHECK: ad.spread_window %{{.+}} at %{{.+}} window [2, 1] strides [3, 1] high [1, 0](%{{.+}}) : (tensor<2x?xf32>, tensor<2x?xi32>) -> tensor<5x?xf32>
  %z = ad.spread_window %g at %p window [2, 1] strides [3, 1] high [1, 0](%n)
      : (tensor<2x?xf32>, tensor<2x?xi32>) -> tensor<5x?xf32>
  return %y, %z : tensor<4x?xf32>, tensor<5x?xf32>
}
