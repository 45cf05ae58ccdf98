// RUN: ad-opt %s --ad-autocast | FileCheck %s --enable-var-scope

// A convolution computes in the narrow type, as products of matrices do, and pooling in the type of its operand.
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME:    %[[X:.+]]: tensor<6x4xf32>, %[[W:.+]]: tensor<3x4x2xf32>)
// CHECK-DAG:   %[[XN:.+]] = ad.cast %[[X]] : tensor<6x4xf32> -> tensor<6x4xbf16>
// CHECK-DAG:   %[[WN:.+]] = ad.cast %[[W]] : tensor<3x4x2xf32> -> tensor<3x4x2xbf16>
// CHECK:       %[[Y:.+]] = ad.conv %[[XN]], %[[WN]] dims "0c,0co->0o" low [1] high [1] : (tensor<6x4xbf16>, tensor<3x4x2xbf16>) -> tensor<6x2xbf16>
// CHECK:       %[[Z:.+]] = ad.reduce_window max %[[Y]] window [2, 1] : tensor<6x2xbf16>
// CHECK:       ad.cast %[[Z]] : tensor<5x2xbf16> -> tensor<5x2xf32>
func.func @convolution(%x: tensor<6x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<5x2xf32> attributes {ad.precision = #ad.precision<bf16>} {
  %y = ad.conv %x, %w dims "0c,0co->0o" low [1] high [1] : (tensor<6x4xf32>, tensor<3x4x2xf32>) -> tensor<6x2xf32>
  %z = ad.reduce_window max %y window [2, 1] : tensor<6x2xf32>
  return %z : tensor<5x2xf32>
}
