// RUN: ad-opt %s --ad-set-numerics --split-input-file --ad-sort-scatters=updates=8 | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --split-input-file --ad-sort-scatters | FileCheck %s --check-prefix=MOST

// Each update gets the number of its element, or the one after the last.
// CHECK-LABEL: @sums
// CHECK:       %[[KEYS:.+]] = ad.fusion elementwise {{.*}}kernel = "generic"{{.*}} (tensor<9xi64>) -> tensor<9xi32>
// CHECK:         arith.cmpi ult, %{{.+}}, %[[SIZE:c100.*]] : index
// CHECK:         arith.select %{{.+}}, %{{.+}}, %[[END:c100.*]] : index
// CHECK:       %[[PLACES:.+]] = ad.argsort %[[KEYS]] axis 0
// CHECK:       %[[SORTED:.+]] = ad.fusion elementwise (%{{.+}} = %[[KEYS]], %{{.+}} = %[[PLACES]])
// CHECK:       %[[BEGINS:.+]] = ad.fusion elementwise (%{{.+}} = %[[SORTED]]) {{.*}} -> tensor<101xi32>
// Four steps of a search among nine.
// CHECK-COUNT-4: tensor.extract %{{.+}} : tensor<9xi32>
// CHECK-NOT:     tensor.extract
// CHECK:       ad.fusion nest (%{{.+}} = %arg0, %{{.+}} = %[[BEGINS]], %{{.+}} = %[[PLACES]], %{{.+}} = %arg2) {{.*}}kernel = "scatter"
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:           arith.cmpi sge
// CHECK:           arith.cmpi slt
// CHECK:           arith.addf
// CHECK:           arith.select
// MOST-LABEL:  @sums
// MOST:        ad.scatter
func.func @sums(%x: tensor<100x3xf32>, %i: tensor<9xi64>, %u: tensor<9x3xf32>) -> tensor<100x3xf32> {
  %y = ad.scatter add %x[%i], %u axes [0] slices [1] : tensor<100x3xf32>, tensor<9xi64>, tensor<9x3xf32>
  return %y : tensor<100x3xf32>
}

// -----

// A constant that is everywhere is not read, and an open number of updates is taken for many.
// CHECK-LABEL: @constant
// CHECK-COUNT-31: tensor.extract %{{.+}} {ad.inside_only} : tensor<?xi32>
// CHECK:       ad.fusion nest (%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %arg1) {{.*}} : (tensor<41xi64>, tensor<?xi64>, tensor<?x?xf64>)
// CHECK:         linalg.fill
// MOST-LABEL:  @constant
// MOST-NOT:    ad.scatter
// MOST:        ad.argsort
func.func @constant(%i: tensor<?x?xi32>, %u: tensor<?x?xf64>) -> tensor<40xf64> {
  %zero = ad.constant dense<0.0> : tensor<40xf64>
  %y = ad.scatter max %zero[%i], %u axes [0] outside clamp : tensor<40xf64>, tensor<?x?xi32>, tensor<?x?xf64>
  return %y : tensor<40xf64>
}

// -----

// CHECK-LABEL: @few
// CHECK:       ad.scatter
func.func @few(%x: tensor<100xf32>, %i: tensor<7xi32>, %u: tensor<7xf32>) -> tensor<100xf32> {
  %y = ad.scatter add %x[%i], %u axes [0] : tensor<100xf32>, tensor<7xi32>, tensor<7xf32>
  return %y : tensor<100xf32>
}

// -----

// A small part of a tensor changes: it may keep its memory.
// CHECK-LABEL: @rows_of_many
// CHECK:       ad.scatter
func.func @rows_of_many(%x: tensor<100000xf32>, %i: tensor<9xi32>, %u: tensor<9xf32>) -> tensor<100000xf32> {
  %y = ad.scatter add %x[%i], %u axes [0] : tensor<100000xf32>, tensor<9xi32>, tensor<9xf32>
  return %y : tensor<100000xf32>
}

// -----

// Kernels are divided along batch axes.
// CHECK-LABEL: @batch
// CHECK:       ad.scatter
func.func @batch(%x: tensor<2x5xf32>, %i: tensor<2x9xi32>, %u: tensor<2x9xf32>) -> tensor<2x5xf32> {
  %y = ad.scatter set %x[%i], %u axes [1] batch [0] x [0] : tensor<2x5xf32>, tensor<2x9xi32>, tensor<2x9xf32>
  return %y : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: @nothing
// CHECK:       ad.scatter
func.func @nothing(%x: tensor<0xf32>, %i: tensor<9xi32>, %u: tensor<9xf32>) -> tensor<0xf32> {
  %y = ad.scatter add %x[%i], %u axes [0] outside drop : tensor<0xf32>, tensor<9xi32>, tensor<9xf32>
  return %y : tensor<0xf32>
}
