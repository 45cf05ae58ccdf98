// RUN: ad-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @reductions
// CHECK-SAME: %[[X:.+]]: tensor<?x?x?xf32>
func.func @reductions(%x: tensor<?x?x?xf32>) -> (index, index, index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK-DAG: %[[FIRST:.+]] = tensor.dim %[[X]], %[[C0]]
  // CHECK-DAG: %[[LAST:.+]] = tensor.dim %[[X]], %[[C2]]
  // CHECK: return %[[LAST]], %[[LAST]], %[[FIRST]], %[[LAST]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = ad.reduce_sum %x axes [0, 1] : tensor<?x?x?xf32> -> tensor<?xf32>
  %1 = ad.reduce_max %x axes [1] keep_dims : tensor<?x?x?xf32> -> tensor<?x1x?xf32>
  %2 = ad.argmax %x axis 1 : tensor<?x?x?xf32>
  %3 = ad.cumsum %x axis 0 : tensor<?x?x?xf32>
  %d0 = tensor.dim %0, %c0 : tensor<?xf32>
  %d1 = tensor.dim %1, %c2 : tensor<?x1x?xf32>
  %d2 = tensor.dim %2, %c0 : tensor<?x?xi64>
  %d3 = tensor.dim %3, %c2 : tensor<?x?x?xf32>
  return %d0, %d1, %d2, %d3 : index, index, index, index
}
