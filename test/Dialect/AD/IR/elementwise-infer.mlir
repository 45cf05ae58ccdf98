// RUN: ad-opt %s --verify-roundtrip | FileCheck %s

// Types of results follow from NumPy's broadcasting, with `?` for sizes that are known at run time only.

// CHECK-LABEL: func.func @c2_missing_leading_dimensions(
// CHECK: return %{{.+}} : tensor<5x4x3xf32>
func.func @c2_missing_leading_dimensions(%x: tensor<5x4x3xf32>, %y: tensor<3xf32>) -> tensor<5x4x3xf32> {
  %z = ad.add %y, %x : tensor<3xf32>, tensor<5x4x3xf32>
  return %z : tensor<5x4x3xf32>
}

// CHECK-LABEL: func.func @c2_both_repeat(
// CHECK: return %{{.+}} : tensor<4x3xf32>
func.func @c2_both_repeat(%x: tensor<4x1xf32>, %y: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %z = ad.mul %x, %y : tensor<4x1xf32>, tensor<1x3xf32>
  return %z : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @c2_dynamic_with_1(
// CHECK: return %{{.+}} : tensor<?xf32>
func.func @c2_dynamic_with_1(%x: tensor<?xf32>, %y: tensor<1xf32>) -> tensor<?xf32> {
  %z = ad.mul %x, %y : tensor<?xf32>, tensor<1xf32>
  return %z : tensor<?xf32>
}

// CHECK-LABEL: func.func @c2_dynamic_with_number(
// CHECK: return %{{.+}} : tensor<7xf32>
func.func @c2_dynamic_with_number(%x: tensor<?xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %z = ad.mul %x, %y : tensor<?xf32>, tensor<7xf32>
  return %z : tensor<7xf32>
}

// CHECK-LABEL: func.func @c2_size_0(
// CHECK: return %{{.+}} : tensor<0x3xf32>
func.func @c2_size_0(%x: tensor<1x3xf32>, %y: tensor<0x1xf32>) -> tensor<0x3xf32> {
  %z = ad.mul %x, %y : tensor<1x3xf32>, tensor<0x1xf32>
  return %z : tensor<0x3xf32>
}

// CHECK-LABEL: func.func @c2_rank_0(
// CHECK: return %{{.+}} : tensor<f32>
func.func @c2_rank_0(%x: tensor<f32>) -> tensor<f32> {
  %z = ad.mul %x, %x : tensor<f32>
  return %z : tensor<f32>
}

// CHECK-LABEL: func.func @compare_gives_booleans(
// CHECK: return %{{.+}} : tensor<4x?xi1>
func.func @compare_gives_booleans(%x: tensor<4x1xi64>, %y: tensor<?xi64>) -> tensor<4x?xi1> {
  %z = ad.compare eq %x, %y : tensor<4x1xi64>, tensor<?xi64>
  return %z : tensor<4x?xi1>
}

// CHECK-LABEL: func.func @select_has_the_data_type(
// CHECK: return %{{.+}} : tensor<4x3xbf16>
func.func @select_has_the_data_type(%c: tensor<4x1xi1>, %x: tensor<3xbf16>) -> tensor<4x3xbf16> {
  %z = ad.select %c, %x, %x : tensor<4x1xi1>, tensor<3xbf16>, tensor<3xbf16>
  return %z : tensor<4x3xbf16>
}
