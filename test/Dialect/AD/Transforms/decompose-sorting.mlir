// RUN: ad-opt %s --ad-decompose | FileCheck %s --enable-var-scope
// RUN: ad-opt %s --ad-decompose=target=cpu | FileCheck %s --check-prefix=KEPT
// RUN: ad-opt %s --ad-decompose=target=gpu | FileCheck %s --check-prefix=KEPT

// An element is before another one, or equal and earlier.
// CHECK-LABEL: func.func @argsort(
// CHECK-SAME:    %[[X:.+]]: tensor<4x3xi32>)
// CHECK:       %[[NUMBERS:.+]] = ad.iota axis 1 : tensor<4x3xi64>
// CHECK:       %[[COLUMN:.+]] = ad.reshape %[[X]] : tensor<4x3xi32> -> tensor<4x3x1xi32>
// CHECK:       %[[MINE:.+]] = ad.broadcast %[[COLUMN]] : tensor<4x3x1xi32> -> tensor<4x3x3xi32>
// CHECK:       %[[ROW:.+]] = ad.reshape %[[X]] : tensor<4x3xi32> -> tensor<4x1x3xi32>
// CHECK:       %[[OTHER:.+]] = ad.broadcast %[[ROW]] : tensor<4x1x3xi32> -> tensor<4x3x3xi32>
// CHECK-DAG:   %[[BEFORE:.+]] = ad.compare lt %[[OTHER]], %[[MINE]]
// CHECK-DAG:   %[[AFTER:.+]] = ad.compare lt %[[MINE]], %[[OTHER]]
// CHECK-DAG:   %[[J:.+]] = ad.iota axis 2 : tensor<4x3x3xi64>
// CHECK-DAG:   %[[I:.+]] = ad.iota axis 1 : tensor<4x3x3xi64>
// CHECK-DAG:   %[[EARLIER:.+]] = ad.compare lt %[[J]], %[[I]]
// CHECK-DAG:   %[[NOT:.+]] = ad.not %[[AFTER]]
// CHECK:       %[[TIE:.+]] = ad.and %[[NOT]], %[[EARLIER]]
// CHECK:       %[[COUNTS:.+]] = ad.or %[[BEFORE]], %[[TIE]]
// CHECK:       %[[ONES:.+]] = ad.cast %[[COUNTS]] : tensor<4x3x3xi1> -> tensor<4x3x3xi64>
// CHECK:       %[[RANKS:.+]] = ad.reduce_sum %[[ONES]] axes [2]
// CHECK:       ad.scatter set %{{.+}}[%[[RANKS]]], %[[NUMBERS]] axes [1] batch [0] x [0] outside drop
func.func @argsort(%x: tensor<4x3xi32>) -> tensor<4x3xi64> {
  %p = ad.argsort %x axis 1 : tensor<4x3xi32>
  return %p : tensor<4x3xi64>
}

// Another axis than the last becomes the last, for which targets have kernels.
// KEPT-LABEL: func.func @argsort_axis(
// KEPT:       %[[ROWS:.+]] = ad.transpose %{{.+}} [2, 1, 0]
// KEPT:       %[[ORDER:.+]] = ad.argsort %[[ROWS]] axis 2
// KEPT:       ad.transpose %[[ORDER]] [2, 1, 0]
// CHECK-LABEL: func.func @argsort_axis(
// CHECK:       ad.transpose %{{.+}} [2, 1, 0] : tensor<4x3x?xi32>
// CHECK-NOT:   ad.argsort
// CHECK:       ad.transpose %{{.+}} [2, 1, 0] : tensor<?x3x4xi64>
func.func @argsort_axis(%x: tensor<4x3x?xi32>) -> tensor<4x3x?xi64> {
  %p = ad.argsort %x axis 0 : tensor<4x3x?xi32>
  return %p : tensor<4x3x?xi64>
}

// NaNs are compared with numbers.
// CHECK-LABEL: func.func @argsort_floats(
// CHECK:       ad.compare gt
// CHECK:       ad.compare eq
// CHECK:       ad.compare ne
func.func @argsort_floats(%x: tensor<3xf32>) -> tensor<3xi64> {
  %p = ad.argsort %x axis 0 descending : tensor<3xf32>
  return %p : tensor<3xi64>
}

// CHECK-LABEL: func.func @sort(
// CHECK-SAME:    %[[K:.+]]: tensor<?xf32>, %[[X:.+]]: tensor<?xi1>)
// CHECK:       ad.require
// CHECK-SAME:  "ad.sort"
// CHECK-NOT:   ad.sort
// CHECK:       ad.gather %[[K]][%[[P:.+]]] axes [0] outside clamp
// CHECK:       ad.gather %{{.+}}[%[[P]]] axes [0] outside clamp
func.func @sort(%k: tensor<?xf32>, %x: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xi1>) {
  %y:2 = ad.sort %k, %x axis 0 : tensor<?xf32>, tensor<?xi1>
  return %y#0, %y#1 : tensor<?xf32>, tensor<?xi1>
}

// CHECK-LABEL: func.func @top_k(
// CHECK-SAME:    %[[X:.+]]: tensor<4x3xf32>)
// CHECK:       %[[P:.+]] = ad.slice %{{.+}} [0, 0] strides [1, 1] : tensor<4x3xi64> -> tensor<4x2xi64>
// CHECK:       ad.gather %[[X]][%[[P]]] axes [1] batch [0] x [0] outside clamp
func.func @top_k(%x: tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>) {
  %v, %p = ad.top_k %x axis 1 k 2 : tensor<4x3xf32>
  return %v, %p : tensor<4x2xf32>, tensor<4x2xi64>
}

// A long line goes through a network: a word has the key and the position, the line is filled to a power of two, and
// level after level of 17 sorts blocks of 2, 4, 8, … elements. A pass exchanges the 8 parts of blocks; what is left of 17
// distances has passes of 2 parts.
// CHECK-LABEL: func.func @long(
// CHECK:       ad.bitcast %{{.+}} : tensor<100000xf32> -> tensor<100000xi32>
// CHECK:       %[[HIGH:.+]] = ad.shift_left
// CHECK:       ad.or %[[HIGH]]
// CHECK:       ad.dynamic_update_slice %{{.+}} : tensor<1x131072xi64>, tensor<1x100000xi64>
// CHECK:       %[[LEVELS:.+]] = arith.constant 17 : index
// CHECK:       scf.for %{{.+}} = %{{.+}} to %[[LEVELS]] step
// CHECK:         scf.if
// CHECK:           ad.concat axis 2 {{.+}} : tensor<1x1x1x65536xi64>, tensor<1x1x1x65536xi64>
// CHECK:         scf.if
// CHECK:           ad.concat axis 2 {{.+}} : tensor<1x2x1x32768xi64>, tensor<1x2x1x32768xi64>
// CHECK:         scf.if
// CHECK-COUNT-12:  ad.compare lt
// CHECK:           ad.concat axis 2 {{.+}} : tensor<1x4x1x4096xi64>,
// CHECK:       ad.and
// CHECK:       ad.slice
func.func @long(%x: tensor<100000xf32>) -> tensor<100000xi64> {
  %p = ad.argsort %x axis 0 : tensor<100000xf32>
  return %p : tensor<100000xi64>
}

// Keys of 64 bits are words of their own, beside the positions.
// CHECK-LABEL: func.func @long_words(
// CHECK-NOT:   ad.shift_left
// CHECK:       scf.for {{.+}} -> (tensor<1x4096xi64>, tensor<1x4096xi64>)
func.func @long_words(%x: tensor<4096xf64>) -> tensor<4096xi64> {
  %p = ad.argsort %x axis 0 : tensor<4096xf64>
  return %p : tensor<4096xi64>
}

// The number of elements decides when the program runs.
// CHECK-LABEL: func.func @open(
// CHECK:       %[[SHORT:.+]] = arith.cmpi ule, %{{.+}}, %{{.+}} : index
// CHECK:       %[[HUGE:.+]] = arith.cmpi uge, %{{.+}}, %{{.+}} : index
// CHECK:       %[[RANKS:.+]] = arith.ori %[[SHORT]], %[[HUGE]]
// CHECK:       scf.if %[[RANKS]] -> (tensor<?xi64>)
// CHECK:         ad.scatter set
// CHECK:       } else {
// CHECK:         scf.for
func.func @open(%x: tensor<?xf32>) -> tensor<?xi64> {
  %p = ad.argsort %x axis 0 : tensor<?xf32>
  return %p : tensor<?xi64>
}

// A size that the type leaves open stays open, though the producer knows it.
// CHECK-LABEL: func.func @known_size(
// CHECK:       ad.iota axis 1(%{{.+}}) : tensor<?x3xi64>
// CHECK:       ad.scatter set {{.+}} : tensor<?x3xi64>
func.func @known_size(%x: tensor<4x3xi32>) -> tensor<?x3xi64> {
  %open = tensor.cast %x : tensor<4x3xi32> to tensor<?x3xi32>
  %p = ad.argsort %open axis 1 : tensor<?x3xi32>
  return %p : tensor<?x3xi64>
}
