// RUN: ad-opt %s --ad-decompose=target=gpu | FileCheck %s --enable-var-scope
// RUN: ad-opt %s --ad-decompose=target=cpu | FileCheck %s --check-prefix=CPU

// CPU-COUNT-12: ad.conv

// The windows that the result has, then their elements: the number of a row times that of columns, and of a column.
// CHECK-LABEL: func.func @few_elements(
// CHECK-SAME:    %[[X:.+]]: tensor<8x20x30x4xf32>, %[[W:.+]]: tensor<2x3x4x5xf32>)
// CHECK:       %[[R:.+]] = ad.iota axis 0 : tensor<10x26x2x3xi32>
// CHECK:       %[[R2:.+]] = ad.mul %[[R]], %{{.+}}
// CHECK:       %[[RW:.+]] = ad.iota axis 2
// CHECK:       %[[ROW:.+]] = ad.add %[[R2]], %[[RW]]
// CHECK:       %[[C:.+]] = ad.iota axis 1
// CHECK:       %[[CW:.+]] = ad.iota axis 3
// CHECK:       %[[CW2:.+]] = ad.mul %[[CW]], %{{.+}}
// CHECK:       %[[COLUMN:.+]] = ad.add %[[C]], %[[CW2]]
// CHECK:       %[[PLANE:.+]] = ad.reshape %[[X]] : tensor<8x20x30x4xf32> -> tensor<8x600x4xf32>
// CHECK:       %[[COLUMNS:.+]] = ad.constant dense<30> : tensor<i32>
// CHECK:       %[[BEFORE:.+]] = ad.mul %[[ROW]], %[[COLUMNS]]
// CHECK:       %[[NUMBER:.+]] = ad.add %[[BEFORE]], %[[COLUMN]]
// CHECK:       %[[I:.+]] = ad.reshape %[[NUMBER]] : tensor<10x26x2x3xi32> -> tensor<1560xi32>
// CHECK:       %[[P:.+]] = ad.gather %[[PLANE]][%[[I]]] axes [1] slices [0, 2] outside fill
// CHECK:       ad.reshape %[[P]] : tensor<8x1560x4xf32> -> tensor<8x10x26x2x3x4xf32>
// CHECK:       ad.dot {{.+}} : (tensor<8x10x26x24xf32>, tensor<24x5xf32>) -> tensor<8x10x26x5xf32>
func.func @few_elements(%x: tensor<8x20x30x4xf32>, %w: tensor<2x3x4x5xf32>) -> tensor<8x10x26x5xf32> {
  %y = ad.conv %x, %w dims "b01c,01co->b01o" strides [2, 1] filter_dilation [1, 2]
      : (tensor<8x20x30x4xf32>, tensor<2x3x4x5xf32>) -> tensor<8x10x26x5xf32>
  return %y : tensor<8x10x26x5xf32>
}

// Along an axis with padding, an index may be outside of the plane that the number is in.
// CHECK-LABEL: func.func @padded_plane(
// CHECK:       %[[ZERO:.+]] = ad.constant dense<0> : tensor<i32>
// CHECK:       %[[LOW:.+]] = ad.compare ge %[[ROW:.+]], %[[ZERO]]
// CHECK:       %[[ROWS:.+]] = ad.constant dense<20> : tensor<i32>
// CHECK:       %[[HIGH:.+]] = ad.compare lt %[[ROW]], %[[ROWS]]
// CHECK:       %[[INSIDE:.+]] = ad.and %[[LOW]], %[[HIGH]]
// CHECK-NOT:   ad.compare
// CHECK:       %[[NONE:.+]] = ad.constant dense<-1> : tensor<i32>
// CHECK:       ad.select %[[INSIDE]], %{{.+}}, %[[NONE]]
func.func @padded_plane(%x: tensor<8x20x30x4xf32>, %w: tensor<3x3x4x5xf32>) -> tensor<8x20x28x5xf32> {
  %y = ad.conv %x, %w dims "b01c,01co->b01o" low [1, 0] high [1, 0]
      : (tensor<8x20x30x4xf32>, tensor<3x3x4x5xf32>) -> tensor<8x20x28x5xf32>
  return %y : tensor<8x20x28x5xf32>
}

// Axes that are apart, of open sizes, or of a slice, which would be copied, keep an index each.
// CHECK-LABEL: func.func @no_planes(
// CHECK:       ad.gather %{{.+}}[%{{.+}}, %{{.+}}] axes [0, 2]
// CHECK:       ad.gather %{{.+}}[%{{.+}}, %{{.+}}] axes [1, 2]
// CHECK:       ad.gather %{{.+}}[%{{.+}}, %{{.+}}] axes [1, 2]
func.func @no_planes(%x: tensor<20x8x30x4xf32>, %o: tensor<8x20x?x4xf32>, %s: tensor<8x21x30x4xf32>, %w: tensor<2x3x4x5xf32>)
    -> (tensor<19x8x28x5xf32>, tensor<8x19x?x5xf32>, tensor<8x19x28x5xf32>) {
  %a = ad.conv %x, %w dims "0b1c,01co->0b1o" : (tensor<20x8x30x4xf32>, tensor<2x3x4x5xf32>) -> tensor<19x8x28x5xf32>
  %b = ad.conv %o, %w dims "b01c,01co->b01o" : (tensor<8x20x?x4xf32>, tensor<2x3x4x5xf32>) -> tensor<8x19x?x5xf32>
  %part = ad.slice %s [0, 1, 0, 0] strides [1, 1, 1, 1] : tensor<8x21x30x4xf32> -> tensor<8x20x30x4xf32>
  %c = ad.conv %part, %w dims "b01c,01co->b01o" : (tensor<8x20x30x4xf32>, tensor<2x3x4x5xf32>) -> tensor<8x19x28x5xf32>
  return %a, %b, %c : tensor<19x8x28x5xf32>, tensor<8x19x?x5xf32>, tensor<8x19x28x5xf32>
}

// Padding is what the indices leave, and a filter may have its channels first: they are where the sum has them.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    %[[X:.+]]: tensor<8x4x20xf32>, %[[W:.+]]: tensor<5x4x3xf32>)
// CHECK-NOT:   ad.pad
// CHECK:       %[[I:.+]] = ad.sub %{{.+}}, %{{.+}} : tensor<20x3xi32>, tensor<i32>
// CHECK:       ad.gather %[[X]][%[[I]]] axes [2] slices [0, 2] outside fill : tensor<8x4x20xf32>, tensor<20x3xi32>
// CHECK:       ad.dot
func.func @padded(%x: tensor<8x4x20xf32>, %w: tensor<5x4x3xf32>) -> tensor<8x5x20xf32> {
  %y = ad.conv %x, %w dims "bc0,oc0->bo0" low [1] high [1] : (tensor<8x4x20xf32>, tensor<5x4x3xf32>) -> tensor<8x5x20xf32>
  return %y : tensor<8x5x20xf32>
}

// A place may be far outside of a short input.
// CHECK-LABEL: func.func @far(
// CHECK:       ad.gather %{{.+}}[%{{.+}}] axes [0] slices [1] outside fill : tensor<4x4xf32>, tensor<10xi64>
func.func @far(%x: tensor<4x4xf32>, %w: tensor<2x4x5xf32>) -> tensor<5x5xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" strides [1000000000] low [2000000000] high [2000000000]
      : (tensor<4x4xf32>, tensor<2x4x5xf32>) -> tensor<5x5xf32>
  return %y : tensor<5x5xf32>
}

// Of windows of one element, each place reads one.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME:    %[[X:.+]]: tensor<8x20x30x4xf32>, %[[W:.+]]: tensor<1x1x4x5xf32>)
// CHECK:       ad.slice %[[X]] [0, 0, 0, 0] strides [1, 2, 3, 1] : tensor<8x20x30x4xf32> -> tensor<8x10x10x4xf32>
// CHECK-NOT:   ad.gather
// CHECK:       ad.dot {{.+}} : (tensor<8x10x10x4xf32>, tensor<4x5xf32>) -> tensor<8x10x10x5xf32>
func.func @strided(%x: tensor<8x20x30x4xf32>, %w: tensor<1x1x4x5xf32>) -> tensor<8x10x10x5xf32> {
  %y = ad.conv %x, %w dims "b01c,01co->b01o" strides [2, 3]
      : (tensor<8x20x30x4xf32>, tensor<1x1x4x5xf32>) -> tensor<8x10x10x5xf32>
  return %y : tensor<8x10x10x5xf32>
}

// The gradient of a filter has few places. The channels, which the input has last, are last in the patches too, and
// axes of the sum first.
// CHECK-LABEL: func.func @few_places(
// CHECK-SAME:    %[[X:.+]]: tensor<?x58x4xf32>, %[[G:.+]]: tensor<?x56x5xf32>)
// CHECK:       ad.gather %[[X]][%{{.+}}] axes [1] slices [0, 2] outside fill : tensor<?x58x4xf32>, tensor<168xi32>
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
