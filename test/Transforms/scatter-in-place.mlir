// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels | FileCheck %s

// The elements that are not updated are in the memory of the result: that of the argument, or of a value that nothing reads
// afterwards.
// CHECK-LABEL: func.func @donated
// CHECK:       %[[MEMORY:.+]] = ad.buffer <argument
// CHECK:       ad.launch @nest_{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}) into(%[[MEMORY]]) {tied = array<i64: 0>}
func.func @donated(%x: tensor<50x8xf32> {ad.donated = 0}, %i: tensor<9xi32>, %u: tensor<9x8xf32>) -> tensor<50x8xf32> {
  %y = ad.scatter add %x[%i], %u axes [0] slices [1] outside drop : tensor<50x8xf32>, tensor<9xi32>, tensor<9x8xf32>
  return %y : tensor<50x8xf32>
}

// CHECK-LABEL: func.func @dead
// CHECK:       ad.launch @{{.+}}(%{{.+}}) into(%[[MEMORY:.+]]) :
// CHECK:       ad.launch @nest_{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}) into(%[[MEMORY]]) {tied = array<i64: 0>}
func.func @dead(%x: tensor<50x8xf32>, %i: tensor<9xi32>, %u: tensor<9x8xf32>) -> tensor<50x8xf32> {
  %e = ad.exp %x : tensor<50x8xf32>
  %s = ad.scatter max %e[%i], %u axes [0] slices [1] outside drop : tensor<50x8xf32>, tensor<9xi32>, tensor<9x8xf32>
  %y = ad.neg %s : tensor<50x8xf32>
  return %y : tensor<50x8xf32>
}

// What it starts from is read again: the host copies it first.
// CHECK-LABEL: func.func @read_again
// CHECK:       ad.launch @{{.+}}(%{{.+}}) into(%[[MEMORY:.+]]) :
// CHECK:       ad.launch @nest_
// CHECK-NOT:   into(%[[MEMORY]])
// CHECK:       return
func.func @read_again(%x: tensor<50x8xf32>, %i: tensor<9xi32>, %u: tensor<9x8xf32>) -> (tensor<50x8xf32>, tensor<50x8xf32>) {
  %e = ad.exp %x : tensor<50x8xf32>
  %y = ad.scatter set %e[%i], %u axes [0] slices [1] outside drop : tensor<50x8xf32>, tensor<9xi32>, tensor<9x8xf32>
  return %y, %e : tensor<50x8xf32>, tensor<50x8xf32>
}
