// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<5x?x6xf32>, %i: tensor<7x?xi32>, %j: tensor<?x2xi64>) -> tensor<7x?x2xf32> {
  // CHECK: ad.gather %{{.+}}[%{{.+}}, %{{.+}}] axes [0, 2] slices [1] : tensor<5x?x6xf32>, tensor<7x?xi32>, tensor<?x2xi64>
  %y = ad.gather %x[%i, %j] axes [0, 2] slices [1] : tensor<5x?x6xf32>, tensor<7x?xi32>, tensor<?x2xi64>
  return %y : tensor<7x?x2xf32>
}

// CHECK-LABEL: func.func @gather_batch
func.func @gather_batch(%x: tensor<5x4x6xbf16>, %i: tensor<2x5xi32>) -> tensor<2x5x6xbf16> {
  // CHECK: ad.gather %{{.+}}[%{{.+}}] axes [1] batch [0] x [1] slices [2] outside clamp {allow = #ad.allow<reorder>} : tensor<5x4x6xbf16>, tensor<2x5xi32>
  %y = ad.gather %x[%i] axes [1] batch [0] x [1] slices [2] outside clamp {allow = #ad.allow<reorder>}
      : tensor<5x4x6xbf16>, tensor<2x5xi32>
  return %y : tensor<2x5x6xbf16>
}

// CHECK-LABEL: func.func @gather_fill
func.func @gather_fill(%x: tensor<5xi1>, %i: tensor<i32>) -> (tensor<i1>, tensor<i1>) {
  // CHECK: ad.gather %{{.+}}[%{{.+}}] axes [0] outside fill : tensor<5xi1>, tensor<i32>
  %y = ad.gather %x[%i] axes [0] outside fill : tensor<5xi1>, tensor<i32>
  // CHECK: ad.gather %{{.+}}[%{{.+}}] axes [0] outside fill value 1.000000e+00 : tensor<5xi1>, tensor<i32>
  %z = ad.gather %x[%i] axes [0] outside fill value 1.0 : tensor<5xi1>, tensor<i32>
  return %y, %z : tensor<i1>, tensor<i1>
}

// CHECK-LABEL: func.func @take
func.func @take(%x: tensor<4x?x3xf32>, %i: tensor<2x5xi32>) -> tensor<4x2x5x3xf32> {
  // CHECK: ad.take %{{.+}}, %{{.+}} axis 1 outside fill value -1.000000e+00 : tensor<4x?x3xf32>, tensor<2x5xi32>
  %y = ad.take %x, %i axis 1 outside fill value -1.0 : tensor<4x?x3xf32>, tensor<2x5xi32>
  return %y : tensor<4x2x5x3xf32>
}

// CHECK-LABEL: func.func @embedding
func.func @embedding(%x: tensor<?x8xf32>, %i: tensor<?xi64>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: ad.embedding %{{.+}}, %{{.+}} : tensor<?x8xf32>, tensor<?xi64>
  %y = ad.embedding %x, %i : tensor<?x8xf32>, tensor<?xi64>
  // CHECK: ad.embedding %{{.+}}, %{{.+}} padding 3 : tensor<?x8xf32>, tensor<?xi64>
  %z = ad.embedding %x, %i padding 3 : tensor<?x8xf32>, tensor<?xi64>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>, %b: tensor<5xi32>, %v: tensor<5xf32>)
    -> (tensor<5x4xf32>, tensor<5x4xf32>) {
  // CHECK: ad.scatter add %{{.+}}[%{{.+}}], %{{.+}} axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  %y = ad.scatter add %x[%i], %u axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  // CHECK: ad.scatter max %{{.+}}[%{{.+}}], %{{.+}} axes [1] batch [0] x [0] outside drop : tensor<5x4xf32>, tensor<5xi32>, tensor<5xf32>
  %z = ad.scatter max %x[%b], %v axes [1] batch [0] x [0] outside drop : tensor<5x4xf32>, tensor<5xi32>, tensor<5xf32>
  return %y, %z : tensor<5x4xf32>, tensor<5x4xf32>
}

// Sizes of the result follow from the operands.
// CHECK-LABEL: func.func @sizes
func.func @sizes(%x: tensor<?x?xf32>, %i: tensor<?xi32>, %j: tensor<3xi32>) -> tensor<3x?xf32> {
  // CHECK: ad.gather
  %y = ad.gather %x[%i, %j] axes [0, 1] : tensor<?x?xf32>, tensor<?xi32>, tensor<3xi32>
  // CHECK: ad.take %{{.+}}, %{{.+}} axis 0
  %z = ad.take %x, %j axis 0 : tensor<?x?xf32>, tensor<3xi32>
  return %z : tensor<3x?xf32>
}
