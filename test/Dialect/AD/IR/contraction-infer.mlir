// RUN: ad-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s --enable-var-scope

// Batch axes, then the free axes of the left, then of the right operand.
// CHECK-LABEL: func.func @dot
// CHECK-SAME: %[[A:.+]]: tensor<?x?x?xf32>, %[[B:.+]]: tensor<?x?x?xf32>
func.func @dot(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) -> (index, index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK-DAG: %[[BATCH:.+]] = tensor.dim %[[A]], %[[C1]]
  // CHECK-DAG: %[[LEFT:.+]] = tensor.dim %[[A]], %[[C2]]
  // CHECK-DAG: %[[RIGHT:.+]] = tensor.dim %[[B]], %[[C0]]
  // CHECK: return %[[BATCH]], %[[LEFT]], %[[RIGHT]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = ad.dot %a, %b batch [1] x [2] contract [0] x [1]
      : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %d0 = tensor.dim %0, %c0 : tensor<?x?x?xf32>
  %d1 = tensor.dim %0, %c1 : tensor<?x?x?xf32>
  %d2 = tensor.dim %0, %c2 : tensor<?x?x?xf32>
  return %d0, %d1, %d2 : index, index, index
}

// CHECK-LABEL: func.func @gemm
// CHECK-SAME: %[[A:.+]]: tensor<?x?xf32>, %[[B:.+]]: tensor<?x?xf32>
func.func @gemm(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[ROWS:.+]] = tensor.dim %[[A]], %[[C1]]
  // CHECK-DAG: %[[COLUMNS:.+]] = tensor.dim %[[B]], %[[C0]]
  // CHECK: return %[[ROWS]], %[[COLUMNS]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = ad.gemm %a, %b {transA, transB} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %d0 = tensor.dim %0, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %0, %c1 : tensor<?x?xf32>
  return %d0, %d1 : index, index
}
