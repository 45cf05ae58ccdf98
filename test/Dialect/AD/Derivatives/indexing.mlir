// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// What is read is added to zeros; no one-hot matrix.
// CHECK-LABEL: func.func private @gather_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<5x4xf32>, %[[I:.+]]: tensor<7xi32>, %[[G:.+]]: tensor<7x4xf32>)
// CHECK:       %[[ZEROS:.+]] = ad.constant dense<0.000000e+00> : tensor<5x4xf32>
// CHECK:       ad.scatter add %[[ZEROS]][%[[I]]], %[[G]] axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
func.func @gather_a1(%x: tensor<5x4xf32>, %i: tensor<7xi32>) -> tensor<7x4xf32> {
  %y = ad.gather %x[%i] axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>
  return %y : tensor<7x4xf32>
}

// Elements that were filled get nothing.
// CHECK-LABEL: func.func private @take_a1__vjp_0(
// CHECK:       ad.scatter add %{{.+}}[%{{.+}}], %{{.+}} axes [1] slices [0] outside drop : tensor<5x4xf32>, tensor<7xi32>, tensor<5x7xf32>
func.func @take_a1(%x: tensor<5x4xf32>, %i: tensor<7xi32>) -> tensor<5x7xf32> {
  %y = ad.take %x, %i axis 1 outside fill value 1.0 : tensor<5x4xf32>, tensor<7xi32>
  return %y : tensor<5x7xf32>
}

// Rows of the padding are put before the table, where they are dropped.
// CHECK-LABEL: func.func private @embedding_a1__vjp_0(
// CHECK-SAME:    %{{.+}}: tensor<5x4xf32>, %[[I:.+]]: tensor<7xi32>, %[[G:.+]]: tensor<7x4xf32>)
// CHECK:       %[[ISPADDING:.+]] = ad.compare eq %[[I]], %{{.+}} : tensor<7xi32>, tensor<i32>
// CHECK:       %[[ROWS:.+]] = ad.select %[[ISPADDING]], %{{.+}}, %[[I]]
// CHECK:       ad.scatter add %{{.+}}[%[[ROWS]]], %[[G]] axes [0] slices [1] outside drop
func.func @embedding_a1(%x: tensor<5x4xf32>, %i: tensor<7xi32>) -> tensor<7x4xf32> {
  %y = ad.embedding %x, %i padding 2 : tensor<5x4xf32>, tensor<7xi32>
  return %y : tensor<7x4xf32>
}

// CHECK-LABEL: func.func private @scatter_a1__vjp_0_2(
// CHECK-SAME:    %{{.+}}: tensor<5x4xf32>, %[[I:.+]]: tensor<7xi32>, %{{.+}}: tensor<7x4xf32>, %[[G:.+]]: tensor<5x4xf32>)
// CHECK:       %[[U:.+]] = ad.gather %[[G]][%[[I]]] axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>
// CHECK:       return %{{.+}}, %[[G]], %[[U]]
func.func @scatter_a1(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) -> tensor<5x4xf32> {
  %y = ad.scatter add %x[%i], %u axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return %y : tensor<5x4xf32>
}

// The number of the last update of each row says which updates are left.
// CHECK-LABEL: func.func private @scatter_a2__vjp_0_2(
// CHECK-SAME:    %{{.+}}: tensor<5x4xf32>, %[[I:.+]]: tensor<7xi32>, %{{.+}}: tensor<7x4xf32>, %[[G:.+]]: tensor<5x4xf32>)
// CHECK-DAG:   %[[DX:.+]] = ad.scatter set %[[G]][%[[I]]], %{{.+}} axes [0] slices [1]
// CHECK-DAG:   %[[NUMBERS:.+]] = ad.iota axis 0 : tensor<7xi64>
// CHECK-DAG:   %[[LAST:.+]] = ad.scatter set %{{.+}}[%[[I]]], %[[NUMBERS]] axes [0] : tensor<5xi64>, tensor<7xi32>, tensor<7xi64>
// CHECK-DAG:   ad.gather %[[LAST]][%[[I]]] axes [0] : tensor<5xi64>, tensor<7xi32>
func.func @scatter_a2(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) -> tensor<5x4xf32> {
  %y = ad.scatter set %x[%i], %u axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return %y : tensor<5x4xf32>
}

// CHECK-LABEL: func.func private @scatter_a3__vjp_0_2(
// CHECK:       ad.scatter min %{{.+}}[%{{.+}}], %{{.+}} axes [0] slices [1] : tensor<5x4xi64>, tensor<7xi32>, tensor<7x4xi64>
func.func @scatter_a3(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) -> tensor<5x4xf32> {
  %y = ad.scatter max %x[%i], %u axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return %y : tensor<5x4xf32>
}

func.func @derivatives(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>, %t: tensor<5x7xf32>) {
  %gather:2 = ad.vjp @gather_a1(%x, %i) cotangents(%u) wrt [0]
    : (tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>) -> (tensor<7x4xf32>, tensor<5x4xf32>)
  %take:2 = ad.vjp @take_a1(%x, %i) cotangents(%t) wrt [0]
    : (tensor<5x4xf32>, tensor<7xi32>, tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x4xf32>)
  %embedding:2 = ad.vjp @embedding_a1(%x, %i) cotangents(%u) wrt [0]
    : (tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>) -> (tensor<7x4xf32>, tensor<5x4xf32>)
  %add:3 = ad.vjp @scatter_a1(%x, %i, %u) cotangents(%x) wrt [0, 2]
    : (tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>, tensor<5x4xf32>)
      -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<7x4xf32>)
  %set:3 = ad.vjp @scatter_a2(%x, %i, %u) cotangents(%x) wrt [0, 2]
    : (tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>, tensor<5x4xf32>)
      -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<7x4xf32>)
  %max:3 = ad.vjp @scatter_a3(%x, %i, %u) cotangents(%x) wrt [0, 2]
    : (tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>, tensor<5x4xf32>)
      -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<7x4xf32>)
  return
}
