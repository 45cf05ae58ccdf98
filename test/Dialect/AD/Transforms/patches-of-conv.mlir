// RUN: ad-opt %s --ad-decompose=target=gpu | FileCheck %s --enable-var-scope
// RUN: ad-opt %s --ad-decompose=target=cpu | FileCheck %s --check-prefix=CPU

// CPU-COUNT-5: ad.conv

// A copy of the input for each row of the window, and one of these for each column: windows, then their elements.
// CHECK-LABEL: func.func @few_elements(
// CHECK-SAME:    %[[X:.+]]: tensor<8x20x30x4xf32>, %[[W:.+]]: tensor<2x3x4x5xf32>)
// CHECK:       %[[R0:.+]] = ad.slice %[[X]] [0, 0, 0, 0] strides [1, 2, 1, 1] : tensor<8x20x30x4xf32> -> tensor<8x10x30x4xf32>
// CHECK:       %[[U0:.+]] = ad.reshape %[[R0]] : tensor<8x10x30x4xf32> -> tensor<8x10x30x1x4xf32>
// CHECK:       %[[R1:.+]] = ad.slice %[[X]] [0, 1, 0, 0] strides [1, 2, 1, 1]
// CHECK:       %[[U1:.+]] = ad.reshape %[[R1]]
// CHECK:       %[[ROWS:.+]] = ad.concat axis 3 %[[U0]], %[[U1]] : tensor<8x10x30x1x4xf32>, tensor<8x10x30x1x4xf32>
// CHECK-COUNT-3: ad.slice %[[ROWS]]
// CHECK:       %[[P:.+]] = ad.concat axis 4 {{.+}} : tensor<8x10x26x2x1x4xf32>, tensor<8x10x26x2x1x4xf32>, tensor<8x10x26x2x1x4xf32>
// CHECK:       ad.dot {{.+}} : (tensor<8x10x26x24xf32>, tensor<24x5xf32>) -> tensor<8x10x26x5xf32>
func.func @few_elements(%x: tensor<8x20x30x4xf32>, %w: tensor<2x3x4x5xf32>) -> tensor<8x10x26x5xf32> {
  %y = ad.conv %x, %w dims "b01c,01co->b01o" strides [2, 1] filter_dilation [1, 2]
      : (tensor<8x20x30x4xf32>, tensor<2x3x4x5xf32>) -> tensor<8x10x26x5xf32>
  return %y : tensor<8x10x26x5xf32>
}

// The gradient of a filter has few places: there is a copy of the input for each of them.
// CHECK-LABEL: func.func @few_places(
// CHECK-SAME:    %[[X:.+]]: tensor<?x58x4xf32>, %[[G:.+]]: tensor<?x56x5xf32>)
// CHECK-COUNT-3: ad.slice {{.+}} -> tensor<?x56x4xf32>
// CHECK:       %[[P:.+]] = ad.concat axis 2 {{.+}} : tensor<?x56x1x4xf32>, tensor<?x56x1x4xf32>, tensor<?x56x1x4xf32>
// CHECK:       ad.dot {{.+}} -> tensor<3x4x5xf32>
func.func @few_places(%x: tensor<?x58x4xf32>, %g: tensor<?x56x5xf32>) -> tensor<3x4x5xf32> {
  %w = ad.conv %x, %g dims "b0c,b0o->0co" : (tensor<?x58x4xf32>, tensor<?x56x5xf32>) -> tensor<3x4x5xf32>
  return %w : tensor<3x4x5xf32>
}

// Without channels there is no product of matrices.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NEXT:  ad.conv
// CHECK-NEXT:  return
func.func @depthwise(%x: tensor<8x20x4xf32>, %w: tensor<3x4xf32>) -> tensor<8x18x4xf32> {
  %y = ad.conv %x, %w dims "b0c,0c->b0c" : (tensor<8x20x4xf32>, tensor<3x4xf32>) -> tensor<8x18x4xf32>
  return %y : tensor<8x18x4xf32>
}

// Neither few elements nor few places.
// CHECK-LABEL: func.func @long(
// CHECK-NEXT:  ad.conv
// CHECK-NEXT:  return
func.func @long(%x: tensor<100x4xf32>, %w: tensor<40x4x5xf32>) -> tensor<61x5xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" : (tensor<100x4xf32>, tensor<40x4x5xf32>) -> tensor<61x5xf32>
  return %y : tensor<61x5xf32>
}

// A size that the type leaves open stays open, though the producer knows it.
// CHECK-LABEL: func.func @known_size(
// CHECK:       ad.dot {{.+}} -> tensor<?x2xf32>
func.func @known_size(%x: tensor<9x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<?x2xf32> {
  %open = tensor.cast %x : tensor<9x4xf32> to tensor<?x4xf32>
  %y = ad.conv %open, %w dims "0c,0co->0o" : (tensor<?x4xf32>, tensor<3x4x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
