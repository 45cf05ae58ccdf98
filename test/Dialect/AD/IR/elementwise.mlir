// RUN: ad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @gelu(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @gelu(%x: tensor<4xf32>) {
  // CHECK: ad.gelu %[[X]] : tensor<4xf32>
  %y = ad.gelu %x : tensor<4xf32>
  // CHECK: ad.gelu %[[X]] form tanh : tensor<4xf32>
  %z = ad.gelu %x form tanh : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @bitcast(
// CHECK: ad.bitcast %{{.+}} : tensor<?xf32> -> tensor<?xi32>
func.func @bitcast(%x: tensor<?xf32>) -> tensor<?xi32> {
  %y = ad.bitcast %x : tensor<?xf32> -> tensor<?xi32>
  return %y : tensor<?xi32>
}

// CHECK-LABEL: func.func @is_finite(
// CHECK: ad.is_finite %{{.+}} : tensor<?xbf16> -> tensor<?xi1>
func.func @is_finite(%x: tensor<?xbf16>) -> tensor<?xi1> {
  %y = ad.is_finite %x : tensor<?xbf16> -> tensor<?xi1>
  return %y : tensor<?xi1>
}

// CHECK-LABEL: func.func @cast(
// CHECK: ad.cast %{{.+}} : tensor<4xf32> -> tensor<4xbf16>
// CHECK: ad.cast %{{.+}} : tensor<4xbf16> -> tensor<4xi8>
// CHECK: ad.cast %{{.+}} : tensor<4xi8> -> tensor<4xi1>
// CHECK: ad.cast %{{.+}} : tensor<4xi1> -> tensor<4xf8E5M2>
func.func @cast(%x: tensor<4xf32>) -> tensor<4xf8E5M2> {
  %a = ad.cast %x : tensor<4xf32> -> tensor<4xbf16>
  %b = ad.cast %a : tensor<4xbf16> -> tensor<4xi8>
  %c = ad.cast %b : tensor<4xi8> -> tensor<4xi1>
  %d = ad.cast %c : tensor<4xi1> -> tensor<4xf8E5M2>
  return %d : tensor<4xf8E5M2>
}

// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf32>, %[[Y:.+]]: tensor<3xf32>
func.func @add(%x: tensor<4x3xf32>, %y: tensor<3xf32>) {
  // CHECK: ad.add %[[X]], %[[Y]] : tensor<4x3xf32>, tensor<3xf32>
  %a = ad.add %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: ad.add %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xf32>
  %b = ad.add %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// CHECK-LABEL: func.func @sub(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf64>, %[[Y:.+]]: tensor<3xf64>
func.func @sub(%x: tensor<4x3xf64>, %y: tensor<3xf64>) {
  // CHECK: ad.sub %[[X]], %[[Y]] : tensor<4x3xf64>, tensor<3xf64>
  %a = ad.sub %x, %y : tensor<4x3xf64>, tensor<3xf64>
  // CHECK: ad.sub %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xf64>
  %b = ad.sub %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xf64>, tensor<4x3xf64>
  return
}

// CHECK-LABEL: func.func @mul(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xbf16>, %[[Y:.+]]: tensor<3xbf16>
func.func @mul(%x: tensor<4x3xbf16>, %y: tensor<3xbf16>) {
  // CHECK: ad.mul %[[X]], %[[Y]] : tensor<4x3xbf16>, tensor<3xbf16>
  %a = ad.mul %x, %y : tensor<4x3xbf16>, tensor<3xbf16>
  // CHECK: ad.mul %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xbf16>
  %b = ad.mul %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xbf16>, tensor<4x3xbf16>
  return
}

// CHECK-LABEL: func.func @div(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xi32>, %[[Y:.+]]: tensor<3xi32>
func.func @div(%x: tensor<4x3xi32>, %y: tensor<3xi32>) {
  // CHECK: ad.div %[[X]], %[[Y]] : tensor<4x3xi32>, tensor<3xi32>
  %a = ad.div %x, %y : tensor<4x3xi32>, tensor<3xi32>
  // CHECK: ad.div %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xi32>
  %b = ad.div %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xi32>, tensor<4x3xi32>
  return
}

// CHECK-LABEL: func.func @rem(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xi64>, %[[Y:.+]]: tensor<3xi64>
func.func @rem(%x: tensor<4x3xi64>, %y: tensor<3xi64>) {
  // CHECK: ad.rem %[[X]], %[[Y]] : tensor<4x3xi64>, tensor<3xi64>
  %a = ad.rem %x, %y : tensor<4x3xi64>, tensor<3xi64>
  // CHECK: ad.rem %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xi64>
  %b = ad.rem %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xi64>, tensor<4x3xi64>
  return
}

// CHECK-LABEL: func.func @max(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf16>, %[[Y:.+]]: tensor<3xf16>
func.func @max(%x: tensor<4x3xf16>, %y: tensor<3xf16>) {
  // CHECK: ad.max %[[X]], %[[Y]] : tensor<4x3xf16>, tensor<3xf16>
  %a = ad.max %x, %y : tensor<4x3xf16>, tensor<3xf16>
  // CHECK: ad.max %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xf16>
  %b = ad.max %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xf16>, tensor<4x3xf16>
  return
}

// CHECK-LABEL: func.func @min(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xi8>, %[[Y:.+]]: tensor<3xi8>
func.func @min(%x: tensor<4x3xi8>, %y: tensor<3xi8>) {
  // CHECK: ad.min %[[X]], %[[Y]] : tensor<4x3xi8>, tensor<3xi8>
  %a = ad.min %x, %y : tensor<4x3xi8>, tensor<3xi8>
  // CHECK: ad.min %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xi8>
  %b = ad.min %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xi8>, tensor<4x3xi8>
  return
}

// CHECK-LABEL: func.func @pow(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf32>, %[[Y:.+]]: tensor<3xf32>
func.func @pow(%x: tensor<4x3xf32>, %y: tensor<3xf32>) {
  // CHECK: ad.pow %[[X]], %[[Y]] : tensor<4x3xf32>, tensor<3xf32>
  %a = ad.pow %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: ad.pow %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xf32>
  %b = ad.pow %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// CHECK-LABEL: func.func @atan2(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf64>, %[[Y:.+]]: tensor<3xf64>
func.func @atan2(%x: tensor<4x3xf64>, %y: tensor<3xf64>) {
  // CHECK: ad.atan2 %[[X]], %[[Y]] : tensor<4x3xf64>, tensor<3xf64>
  %a = ad.atan2 %x, %y : tensor<4x3xf64>, tensor<3xf64>
  // CHECK: ad.atan2 %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xf64>
  %b = ad.atan2 %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xf64>, tensor<4x3xf64>
  return
}

// CHECK-LABEL: func.func @and(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xi1>, %[[Y:.+]]: tensor<3xi1>
func.func @and(%x: tensor<4x3xi1>, %y: tensor<3xi1>) {
  // CHECK: ad.and %[[X]], %[[Y]] : tensor<4x3xi1>, tensor<3xi1>
  %a = ad.and %x, %y : tensor<4x3xi1>, tensor<3xi1>
  // CHECK: ad.and %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xi1>
  %b = ad.and %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xi1>, tensor<4x3xi1>
  return
}

// CHECK-LABEL: func.func @or(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xi8>, %[[Y:.+]]: tensor<3xi8>
func.func @or(%x: tensor<4x3xi8>, %y: tensor<3xi8>) {
  // CHECK: ad.or %[[X]], %[[Y]] : tensor<4x3xi8>, tensor<3xi8>
  %a = ad.or %x, %y : tensor<4x3xi8>, tensor<3xi8>
  // CHECK: ad.or %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xi8>
  %b = ad.or %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xi8>, tensor<4x3xi8>
  return
}

// CHECK-LABEL: func.func @xor(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xi64>, %[[Y:.+]]: tensor<3xi64>
func.func @xor(%x: tensor<4x3xi64>, %y: tensor<3xi64>) {
  // CHECK: ad.xor %[[X]], %[[Y]] : tensor<4x3xi64>, tensor<3xi64>
  %a = ad.xor %x, %y : tensor<4x3xi64>, tensor<3xi64>
  // CHECK: ad.xor %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xi64>
  %b = ad.xor %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xi64>, tensor<4x3xi64>
  return
}

// CHECK-LABEL: func.func @shifts(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xi8>, %[[Y:.+]]: tensor<3xi8>
func.func @shifts(%x: tensor<4x3xi8>, %y: tensor<3xi8>) {
  // CHECK: ad.shift_left %[[X]], %[[Y]] : tensor<4x3xi8>, tensor<3xi8>
  %a = ad.shift_left %x, %y : tensor<4x3xi8>, tensor<3xi8>
  // CHECK: ad.shift_right %[[X]], %[[X]] {allow = #ad.allow<reorder|mma>} : tensor<4x3xi8>
  %b = ad.shift_right %x, %x {allow = #ad.allow<reorder|mma>} : tensor<4x3xi8>, tensor<4x3xi8>
  // CHECK: ad.shift_right_logical %[[X]], %[[Y]] : tensor<4x3xi8>, tensor<3xi8>
  %c = ad.shift_right_logical %x, %y : tensor<4x3xi8>, tensor<3xi8>
  return
}

// CHECK-LABEL: func.func @compare(
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf32>, %[[Y:.+]]: tensor<3xf32>
func.func @compare(%x: tensor<4x3xf32>, %y: tensor<3xf32>) -> tensor<4x3xi1> {
  // CHECK: ad.compare eq %[[X]], %[[Y]] : tensor<4x3xf32>, tensor<3xf32>
  %eq = ad.compare eq %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: ad.compare ne %[[X]], %[[Y]] : tensor<4x3xf32>, tensor<3xf32>
  %ne = ad.compare ne %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: ad.compare lt %[[X]], %[[Y]] : tensor<4x3xf32>, tensor<3xf32>
  %lt = ad.compare lt %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: ad.compare le %[[X]], %[[Y]] : tensor<4x3xf32>, tensor<3xf32>
  %le = ad.compare le %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: ad.compare gt %[[X]], %[[Y]] : tensor<4x3xf32>, tensor<3xf32>
  %gt = ad.compare gt %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: ad.compare ge %[[X]], %[[X]] : tensor<4x3xf32>
  %ge = ad.compare ge %x, %x : tensor<4x3xf32>
  return %ge : tensor<4x3xi1>
}

// CHECK-LABEL: func.func @select(
// CHECK: ad.select %{{.+}} : tensor<1xi1>, tensor<?xf32>, tensor<f32>
// CHECK: ad.select %{{.+}} : tensor<1xi1>{{$}}
func.func @select(%c: tensor<1xi1>, %x: tensor<?xf32>, %y: tensor<f32>) -> tensor<?xf32> {
  %z = ad.select %c, %x, %y : tensor<1xi1>, tensor<?xf32>, tensor<f32>
  %w = ad.select %c, %c, %c : tensor<1xi1>
  return %z : tensor<?xf32>
}

// CHECK-LABEL: func.func @clamp(
// CHECK: ad.clamp %{{.+}} : tensor<4xi32>, tensor<i32>, tensor<1xi32>
func.func @clamp(%x: tensor<4xi32>, %low: tensor<i32>, %high: tensor<1xi32>) -> tensor<4xi32> {
  %z = ad.clamp %x, %low, %high : tensor<4xi32>, tensor<i32>, tensor<1xi32>
  return %z : tensor<4xi32>
}

// CHECK-LABEL: func.func @fma(
// CHECK: ad.fma %{{.+}} : tensor<4xf64>{{$}}
func.func @fma(%x: tensor<4xf64>) -> tensor<4xf64> {
  %z = ad.fma %x, %x, %x : tensor<4xf64>
  return %z : tensor<4xf64>
}
