// RUN: ad-opt %s --ad-autocast | FileCheck %s --enable-var-scope

// Operands of one type are sorted in the type that they have.
// CHECK-LABEL: func.func @one_type(
// CHECK:       %[[Y:.+]] = ad.dot {{.+}} -> tensor<4x4xbf16>
// CHECK:       ad.sort %[[Y]], %[[Y]] axis 1 : tensor<4x4xbf16>, tensor<4x4xbf16>
func.func @one_type(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {ad.precision = #ad.precision<bf16>} {
  %y = ad.dot %x, %x contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z:2 = ad.sort %y, %y axis 1 : tensor<4x4xf32>, tensor<4x4xf32>
  return %z#1 : tensor<4x4xf32>
}

// Operands of several types keep theirs, since each result has the type of its operand.
// CHECK-LABEL: func.func @several_types(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4xbf16>)
// CHECK-NEXT:  %[[Z:.+]]:2 = ad.sort %[[X]], %[[Y]] axis 0 : tensor<4xf32>, tensor<4xbf16>
// CHECK-NEXT:  return %[[Z]]#1
func.func @several_types(%x: tensor<4xf32>, %y: tensor<4xbf16>) -> tensor<4xbf16> attributes {ad.precision = #ad.precision<bf16>} {
  %z:2 = ad.sort %x, %y axis 0 : tensor<4xf32>, tensor<4xbf16>
  return %z#1 : tensor<4xbf16>
}
