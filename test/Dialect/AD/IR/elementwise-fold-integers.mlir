// RUN: ad-opt %s --canonicalize | FileCheck %s

// Operations on integers and booleans that are constant give the bits that the compiled program would.

// CHECK-LABEL: func.func @integer_division(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[-3, 0, -128, 42, -1]> : tensor<5xi8>
// CHECK-NEXT: return %[[C]]
func.func @integer_division() -> tensor<5xi8> {
  %a = ad.constant dense<[-7, 5, -128, -42, 10]> : tensor<5xi8>
  %b = ad.constant dense<[2, 0, -1, -1, -10]> : tensor<5xi8>
  %z = ad.div %a, %b : tensor<5xi8>
  return %z : tensor<5xi8>
}

// CHECK-LABEL: func.func @integer_remainder(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[-1, 5, 0, 3]> : tensor<4xi8>
// CHECK-NEXT: return %[[C]]
func.func @integer_remainder() -> tensor<4xi8> {
  %a = ad.constant dense<[-7, 5, -128, 13]> : tensor<4xi8>
  %b = ad.constant dense<[2, 0, -1, -10]> : tensor<4xi8>
  %z = ad.rem %a, %b : tensor<4xi8>
  return %z : tensor<4xi8>
}

// Places outside of 0 to 8 move all bits out.
// CHECK-LABEL: func.func @shifts(
// CHECK-DAG: %[[L:.+]] = ad.constant dense<[-14, 0, -128, 0, 0, 0]> : tensor<6xi8>
// CHECK-DAG: %[[R:.+]] = ad.constant dense<[-4, -1, 0, 0, -1, 0]> : tensor<6xi8>
// CHECK-DAG: %[[U:.+]] = ad.constant dense<[124, 1, 0, 0, 0, 0]> : tensor<6xi8>
// CHECK: return %[[L]], %[[R]], %[[U]]
func.func @shifts() -> (tensor<6xi8>, tensor<6xi8>, tensor<6xi8>) {
  %a = ad.constant dense<[-7, -128, 1, 100, -1, 3]> : tensor<6xi8>
  %b = ad.constant dense<[1, 7, 7, 8, -1, -128]> : tensor<6xi8>
  %left = ad.shift_left %a, %b : tensor<6xi8>
  %right = ad.shift_right %a, %b : tensor<6xi8>
  %logical = ad.shift_right_logical %a, %b : tensor<6xi8>
  return %left, %right, %logical : tensor<6xi8>, tensor<6xi8>, tensor<6xi8>
}

// CHECK-LABEL: func.func @shifts_by_nothing(
// CHECK-SAME: %[[X:.+]]: tensor<3xi32>
// CHECK-NEXT: return %[[X]]
func.func @shifts_by_nothing(%x: tensor<3xi32>) -> tensor<3xi32> {
  %zero = ad.constant dense<0> : tensor<3xi32>
  %a = ad.shift_left %x, %zero : tensor<3xi32>
  %b = ad.shift_right %a, %zero : tensor<3xi32>
  %c = ad.shift_right_logical %b, %zero : tensor<3xi32>
  return %c : tensor<3xi32>
}

// CHECK-LABEL: func.func @integers_wrap(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[-126, -128]> : tensor<2xi8>
// CHECK-NEXT: return %[[C]]
func.func @integers_wrap() -> tensor<2xi8> {
  %a = ad.constant dense<[127, -128]> : tensor<2xi8>
  %b = ad.constant dense<[3, 0]> : tensor<2xi8>
  %z = ad.add %a, %b : tensor<2xi8>
  return %z : tensor<2xi8>
}

// CHECK-LABEL: func.func @abs_of_smallest(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<-128> : tensor<i8>
// CHECK-NEXT: return %[[C]]
func.func @abs_of_smallest() -> tensor<i8> {
  %a = ad.constant dense<-128> : tensor<i8>
  %z = ad.abs %a : tensor<i8>
  return %z : tensor<i8>
}

// CHECK-LABEL: func.func @not_of_booleans(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[false, true]> : tensor<2xi1>
// CHECK-NEXT: return %[[C]]
func.func @not_of_booleans() -> tensor<2xi1> {
  %a = ad.constant dense<[true, false]> : tensor<2xi1>
  %z = ad.not %a : tensor<2xi1>
  return %z : tensor<2xi1>
}

// CHECK-LABEL: func.func @not_of_integers(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[-2, 0]> : tensor<2xi8>
// CHECK-NEXT: return %[[C]]
func.func @not_of_integers() -> tensor<2xi8> {
  %a = ad.constant dense<[1, -1]> : tensor<2xi8>
  %z = ad.not %a : tensor<2xi8>
  return %z : tensor<2xi8>
}

// CHECK-LABEL: func.func @cast_saturates(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[127, -128, 0, -3]> : tensor<4xi8>
// CHECK-NEXT: return %[[C]]
func.func @cast_saturates() -> tensor<4xi8> {
  %a = ad.constant dense<[300.0, -300.0, 0x7FC00000, -3.75]> : tensor<4xf32>
  %z = ad.cast %a : tensor<4xf32> -> tensor<4xi8>
  return %z : tensor<4xi8>
}

// CHECK-LABEL: func.func @is_finite(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[true, false, false]> : tensor<3xi1>
// CHECK-NEXT: return %[[C]]
func.func @is_finite() -> tensor<3xi1> {
  %a = ad.constant dense<[1.0, 0x7C00, 0x7E00]> : tensor<3xf16>
  %z = ad.is_finite %a : tensor<3xf16> -> tensor<3xi1>
  return %z : tensor<3xi1>
}

// CHECK-LABEL: func.func @select(
// CHECK-NEXT: %[[C:.+]] = ad.constant dense<[1.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: return %[[C]]
func.func @select() -> tensor<2xf32> {
  %p = ad.constant dense<[true, false]> : tensor<2xi1>
  %a = ad.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = ad.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %z = ad.select %p, %a, %b : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
  return %z : tensor<2xf32>
}
