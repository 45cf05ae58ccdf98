// RUN: ad-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s --enable-var-scope

// Sizes that are operands or attributes of the operation.
// CHECK-LABEL: func.func @written_sizes
// CHECK-SAME: , %[[N:.+]]: index
func.func @written_sizes(%x: tensor<?x6xf32>, %n: index) -> (index, index, index, index, index) {
  // CHECK-NEXT: return %[[N]], %[[N]], %[[N]], %[[N]], %[[N]]
  %c0 = arith.constant 0 : index
  %0 = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %1 = ad.broadcast %x(%n) : tensor<?x6xf32> -> tensor<?x6xf32>
  %2 = ad.sum_to_shape %x(%n) : tensor<?x6xf32> -> tensor<?x1xf32>
  %3 = ad.slice %x [0, 2] strides [2, 1] (%n) : tensor<?x6xf32> -> tensor<?x2xf32>
  %4 = ad.dynamic_slice %x[%n, %n] (%n) : tensor<?x6xf32> -> tensor<?x6xf32>
  %d0 = tensor.dim %0, %c0 : tensor<?x2x3xf32>
  %d1 = tensor.dim %1, %c0 : tensor<?x6xf32>
  %d2 = tensor.dim %2, %c0 : tensor<?x1xf32>
  %d3 = tensor.dim %3, %c0 : tensor<?x2xf32>
  %d4 = tensor.dim %4, %c0 : tensor<?x6xf32>
  return %d0, %d1, %d2, %d3, %d4 : index, index, index, index, index
}

// Sizes of the input.
// CHECK-LABEL: func.func @kept_sizes
// CHECK-SAME: %[[X:.+]]: tensor<?x?xf32>
func.func @kept_sizes(%x: tensor<?x?xf32>, %u: tensor<1x1xf32>, %i: index) -> (index, index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[D0:.+]] = tensor.dim %[[X]], %[[C0]]
  // CHECK-DAG: %[[D1:.+]] = tensor.dim %[[X]], %[[C1]]
  // CHECK: return %[[D0]], %[[D1]], %[[D0]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = ad.dynamic_update_slice %x, %u[%i, %i] : tensor<?x?xf32>, tensor<1x1xf32>
  %1 = ad.reverse %0 axes [0] : tensor<?x?xf32>
  %2 = ad.transpose %1 [1, 0] : tensor<?x?xf32>
  %d0 = tensor.dim %0, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %1, %c1 : tensor<?x?xf32>
  %d2 = tensor.dim %2, %c1 : tensor<?x?xf32>
  return %d0, %d1, %d2 : index, index, index
}

// low + high + size + max(size - 1, 0) * interior
// CHECK-LABEL: func.func @pad
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>
func.func @pad(%x: tensor<?xf32>, %v: tensor<f32>) -> index {
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[MINUS:.+]] = arith.constant -1 : index
  // CHECK-DAG: %[[THREE:.+]] = arith.constant 3 : index
  // CHECK-DAG: %[[ENDS:.+]] = arith.constant 5 : index
  // CHECK: %[[SIZE:.+]] = tensor.dim %[[X]], %[[ZERO]]
  // CHECK: %[[GAPS:.+]] = arith.addi %[[SIZE]], %[[MINUS]]
  // CHECK: %[[SOME:.+]] = arith.maxsi %[[GAPS]], %[[ZERO]]
  // CHECK: %[[BETWEEN:.+]] = arith.muli %[[SOME]], %[[THREE]]
  // CHECK: %[[INNER:.+]] = arith.addi %[[SIZE]], %[[BETWEEN]]
  // CHECK: %[[ALL:.+]] = arith.addi %[[INNER]], %[[ENDS]]
  // CHECK: return %[[ALL]]
  %c0 = arith.constant 0 : index
  %0 = ad.pad %x, %v low [1] high [4] interior [3] : tensor<?xf32>, tensor<f32>
  %d0 = tensor.dim %0, %c0 : tensor<?xf32>
  return %d0 : index
}

// CHECK-LABEL: func.func @concat
// CHECK-SAME: %[[A:.+]]: tensor<?x?xf32>, %[[B:.+]]: tensor<?x5xf32>
func.func @concat(%a: tensor<?x?xf32>, %b: tensor<?x5xf32>) -> (index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[C5:.+]] = arith.constant 5 : index
  // CHECK-DAG: %[[ROWS:.+]] = tensor.dim %[[A]], %[[C0]]
  // CHECK-DAG: %[[SIZE:.+]] = tensor.dim %[[A]], %[[C1]]
  // CHECK-DAG: %[[SUM:.+]] = arith.addi %[[SIZE]], %[[C5]]
  // CHECK: return %[[ROWS]], %[[SUM]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = ad.concat axis 1 %a, %b : tensor<?x?xf32>, tensor<?x5xf32>
  %d0 = tensor.dim %0, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %0, %c1 : tensor<?x?xf32>
  return %d0, %d1 : index, index
}
