// RUN: ad-opt %s --ad-decompose | FileCheck %s --enable-var-scope

// Zeros around the elements.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    %[[X:.+]]: tensor<5x4xf32>, %[[W:.+]]: tensor<3x4x2xf32>)
// CHECK:       %[[ZERO:.+]] = ad.constant dense<0.000000e+00> : tensor<f32>
// CHECK:       %[[P:.+]] = ad.pad %[[X]], %[[ZERO]] low [2, 0] high [1, 0] interior [0, 0] {allow = #ad.allow<contract>} : tensor<5x4xf32>, tensor<f32>
// CHECK:       %[[Y:.+]] = ad.conv %[[P]], %[[W]] dims "0c,0co->0o" strides [2] filter_dilation [2] {allow = #ad.allow<contract>} : (tensor<8x4xf32>, tensor<3x4x2xf32>) -> tensor<2x2xf32>
// CHECK:       return %[[Y]]
func.func @padded(%x: tensor<5x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<2x2xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" strides [2] low [2] high [1] filter_dilation [2]
      {allow = #ad.allow<contract>} : (tensor<5x4xf32>, tensor<3x4x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// Negative paddings take elements away.
// CHECK-LABEL: func.func @cropped(
// CHECK-SAME:    %[[X:.+]]: tensor<9x4xf32>, %[[W:.+]]: tensor<3x4x2xf32>)
// CHECK:       %[[P:.+]] = ad.pad %[[X]], %{{.+}} low [0, 0] high [3, 0] interior [0, 0]
// CHECK:       %[[S:.+]] = ad.slice %[[P]] [2, 0] strides [1, 1] : tensor<12x4xf32> -> tensor<10x4xf32>
// CHECK:       ad.conv %[[S]], %[[W]] dims "0c,0co->0o" : (tensor<10x4xf32>, tensor<3x4x2xf32>) -> tensor<8x2xf32>
func.func @cropped(%x: tensor<9x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<8x2xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" low [-2] high [3] : (tensor<9x4xf32>, tensor<3x4x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// Without padding nothing changes.
// CHECK-LABEL: func.func @unpadded(
// CHECK-NEXT:  ad.conv %{{.+}}, %{{.+}} dims "0c,0co->0o" strides [2]
// CHECK-NEXT:  return
func.func @unpadded(%x: tensor<9x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<4x2xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" strides [2] : (tensor<9x4xf32>, tensor<3x4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// One element of the filter along each spatial axis: a product of matrices in each group.
// CHECK-LABEL: func.func @pointwise(
// CHECK-SAME:    %[[X:.+]]: tensor<2x3x4x5xf32>, %[[W:.+]]: tensor<1x2x5x7xf32>)
// CHECK:       %[[F:.+]] = ad.reshape %[[W]] : tensor<1x2x5x7xf32> -> tensor<2x5x7xf32>
// CHECK:       %[[D:.+]] = ad.dot %[[X]], %[[F]] batch [0] x [0] contract [3] x [1] {order = #ad.order<chain>} : (tensor<2x3x4x5xf32>, tensor<2x5x7xf32>) -> tensor<2x3x4x7xf32>
// CHECK:       %[[Y:.+]] = ad.transpose %[[D]] [1, 3, 0, 2] : tensor<2x3x4x7xf32>
// CHECK:       return %[[Y]]
func.func @pointwise(%x: tensor<2x3x4x5xf32>, %w: tensor<1x2x5x7xf32>) -> tensor<3x7x2x4xf32> {
  %y = ad.conv %x, %w dims "gb0c,0gco->bog0" {order = #ad.order<chain>}
      : (tensor<2x3x4x5xf32>, tensor<1x2x5x7xf32>) -> tensor<3x7x2x4xf32>
  return %y : tensor<3x7x2x4xf32>
}

// Only groups and channels: ad.dot would add in the order of lanes.
// CHECK-LABEL: func.func @groups_alone(
// CHECK-NEXT:  ad.conv
// CHECK-NEXT:  return
func.func @groups_alone(%x: tensor<2x5xf32>, %w: tensor<2x5xf32>) -> tensor<2xf32> {
  %y = ad.conv %x, %w dims "gc,gc->g" : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// A size that the type leaves open stays open, though the producer knows it.
// CHECK-LABEL: func.func @known_size(
// CHECK:       ad.slice {{.+}} : tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK:       ad.conv {{.+}} : (tensor<?x4xf32>, tensor<3x4x2xf32>) -> tensor<?x2xf32>
func.func @known_size(%x: tensor<9x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<?x2xf32> {
  %open = tensor.cast %x : tensor<9x4xf32> to tensor<?x4xf32>
  %y = ad.conv %open, %w dims "0c,0co->0o" low [-2] : (tensor<?x4xf32>, tensor<3x4x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// Zeros between the elements: even places meet the input with the second element of the filter, odd ones with
// the first and the third. Their results alternate.
// CHECK-LABEL: func.func @phases(
// CHECK-SAME:    %[[X:.+]]: tensor<5x4xf32>, %[[W:.+]]: tensor<3x4x2xf32>)
// CHECK-DAG:   %[[SECOND:.+]] = ad.slice %[[W]] [1, 0, 0] strides [2, 1, 1] : tensor<3x4x2xf32> -> tensor<1x4x2xf32>
// CHECK-DAG:   %[[OTHERS:.+]] = ad.slice %[[W]] [0, 0, 0] strides [2, 1, 1] : tensor<3x4x2xf32> -> tensor<2x4x2xf32>
// CHECK-DAG:   %[[MATRIX:.+]] = ad.reshape %[[SECOND]]
// CHECK-DAG:   %[[EVEN:.+]] = ad.dot %{{.+}}, %[[MATRIX]] {{.*}} -> tensor<5x2xf32>
// CHECK-DAG:   %[[ODD:.+]] = ad.conv %{{.+}}, %[[OTHERS]] dims "0c,0co->0o" strides [1] filter_dilation [1] : (tensor<6x4xf32>, tensor<2x4x2xf32>) -> tensor<5x2xf32>
// CHECK-DAG:   %[[FIRST:.+]] = ad.reshape %[[EVEN]] : tensor<5x2xf32> -> tensor<5x1x2xf32>
// CHECK-DAG:   %[[LAST:.+]] = ad.reshape %[[ODD]] : tensor<5x2xf32> -> tensor<5x1x2xf32>
// CHECK:       %[[ALL:.+]] = ad.concat axis 1 %[[FIRST]], %[[LAST]]
// CHECK:       ad.reshape %[[ALL]] : tensor<5x2x2xf32> -> tensor<10x2xf32>
func.func @phases(%x: tensor<5x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<10x2xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" low [1] high [2] input_dilation [2]
      : (tensor<5x4xf32>, tensor<3x4x2xf32>) -> tensor<10x2xf32>
  return %y : tensor<10x2xf32>
}

// Phases along two axes: one pass takes each element from its phase.
// CHECK-LABEL: func.func @phases_of_two_axes(
// CHECK-COUNT-4: ad.broadcast %{{.+}} : tensor<2x5x1x6x1x16xf32> -> tensor<2x5x2x6x2x16xf32>
// CHECK-NOT:   ad.concat
// CHECK:       %[[EVEN:.+]] = ad.broadcast %{{.+}} : tensor<2x1x1x1xi1> -> tensor<2x5x2x6x2x16xi1>
// CHECK:       %[[ALL:.+]] = ad.select %[[EVEN]]
// CHECK:       ad.reshape %[[ALL]] : tensor<2x5x2x6x2x16xf32> -> tensor<2x10x12x16xf32>
func.func @phases_of_two_axes(%x: tensor<2x5x6x16xf32>, %w: tensor<3x3x16xf32>) -> tensor<2x10x12x16xf32> {
  %y = ad.conv %x, %w dims "b01c,01c->b01c" low [1, 1] high [2, 2] input_dilation [2, 2]
      : (tensor<2x5x6x16xf32>, tensor<3x3x16xf32>) -> tensor<2x10x12x16xf32>
  return %y : tensor<2x10x12x16xf32>
}

// Only one phase has an element of the filter: the places of the others are zeros.
// CHECK-LABEL: func.func @one_phase(
// CHECK:       %[[Y:.+]] = ad.dot
// CHECK:       %[[ZERO:.+]] = ad.constant dense<0.000000e+00> : tensor<f32>
// CHECK:       %[[P:.+]] = ad.pad %[[Y]], %[[ZERO]] low [1, 0] high [1, 0] interior [2, 0]
// CHECK:       return %[[P]]
func.func @one_phase(%x: tensor<5x4xf32>, %w: tensor<1x4x2xf32>) -> tensor<15x2xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" low [1] high [1] input_dilation [3]
      : (tensor<5x4xf32>, tensor<1x4x2xf32>) -> tensor<15x2xf32>
  return %y : tensor<15x2xf32>
}

// With more zeros the places of a period would be too many convolutions.
// CHECK-LABEL: func.func @many_phases(
// CHECK:       %[[P:.+]] = ad.pad {{.*}} interior [64, 0]
// CHECK:       ad.conv %[[P]], %{{.+}} dims "0c,0co->0o" {{.*}} -> tensor<65x2xf32>
// CHECK-NEXT:  return
func.func @many_phases(%x: tensor<2x4xf32>, %w: tensor<2x4x2xf32>) -> tensor<65x2xf32> {
  %y = ad.conv %x, %w dims "0c,0co->0o" input_dilation [65] : (tensor<2x4xf32>, tensor<2x4x2xf32>) -> tensor<65x2xf32>
  return %y : tensor<65x2xf32>
}

// One place: a product over the axes of the window.
// CHECK-LABEL: func.func @one_place(
// CHECK-SAME:    %[[X:.+]]: tensor<2x5x5x3xf32>, %[[G:.+]]: tensor<2x3x3x4xf32>)
// CHECK:       %[[S:.+]] = ad.slice %[[X]] [0, 0, 0, 0] strides [1, 2, 2, 1] : tensor<2x5x5x3xf32> -> tensor<2x3x3x3xf32>
// CHECK:       ad.reshape %[[S]]
// CHECK:       ad.reshape %[[G]]
// CHECK:       %[[D:.+]] = ad.dot %{{.+}}, %{{.+}} contract [0] x [0] : (tensor<18x3xf32>, tensor<18x4xf32>) -> tensor<3x4xf32>
// CHECK:       %[[R:.+]] = ad.reshape %[[D]] : tensor<3x4xf32> -> tensor<1x1x3x4xf32>
// CHECK:       return %[[R]]
func.func @one_place(%x: tensor<2x5x5x3xf32>, %g: tensor<2x3x3x4xf32>) -> tensor<1x1x3x4xf32> {
  %y = ad.conv %x, %g dims "b01c,b01o->01co" filter_dilation [2, 2]
      : (tensor<2x5x5x3xf32>, tensor<2x3x3x4xf32>) -> tensor<1x1x3x4xf32>
  return %y : tensor<1x1x3x4xf32>
}

// Sizes that types leave open stay open here, too.
// CHECK-LABEL: func.func @phases_of_known_size(
// CHECK:       ad.slice {{.+}} : tensor<3x4x?xf32> -> tensor<1x4x?xf32>
// CHECK:       return %{{.+}} : tensor<?x?xf32>
func.func @phases_of_known_size(%x: tensor<5x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<?x?xf32> {
  %open = tensor.cast %x : tensor<5x4xf32> to tensor<?x4xf32>
  %filter = tensor.cast %w : tensor<3x4x2xf32> to tensor<3x4x?xf32>
  %y = ad.conv %open, %filter dims "0c,0co->0o" low [1] input_dilation [2]
      : (tensor<?x4xf32>, tensor<3x4x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// No element of the input meets one of the filter, however many that has: a filter without elements has known places.
// CHECK-LABEL: func.func @no_phase_has_elements(
// CHECK:       ad.conv %{{.+}}, %{{.+}} dims "a10,10a->01" strides [1, 1] filter_dilation [1, 1] : (tensor<1x?x6xf32>, tensor<2x0x1xf32>) -> tensor<6x?xf32>
func.func @no_phase_has_elements(%x: tensor<1x?x3xf32>, %w: tensor<2x?x1xf32>) -> tensor<?x?xf32> {
  %y = ad.conv %x, %w dims "a10,10a->01" strides [3, 1] low [1, 2] high [3, 0] input_dilation [9, 1] filter_dilation [3, 1]
      : (tensor<1x?x3xf32>, tensor<2x?x1xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
