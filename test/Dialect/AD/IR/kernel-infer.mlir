// RUN: ad-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s --enable-var-scope

// Sizes follow the operations of the region back to the operands of the fusion.
// CHECK-LABEL: func.func @fusion_through_operations
// CHECK-SAME: %[[X:.+]]: tensor<?x4xf32>, %[[Y:.+]]: tensor<4x?xf32>
func.func @fusion_through_operations(%x: tensor<?x4xf32>, %y: tensor<4x?xf32>) -> (index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[ROWS:.+]] = tensor.dim %[[X]], %[[C0]]
  // CHECK-DAG: %[[COLUMNS:.+]] = tensor.dim %[[Y]], %[[C1]]
  // CHECK: return %[[COLUMNS]], %[[ROWS]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = ad.fusion dot (%a = %x, %b = %y) : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32> {
    %0 = ad.exp %a : tensor<?x4xf32>
    %1 = ad.dot %0, %b : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
    %2 = ad.transpose %1 [1, 0] : tensor<?x?xf32>
    ad.yield %2 : tensor<?x?xf32>
  }
  %d0 = tensor.dim %z, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %z, %c1 : tensor<?x?xf32>
  return %d0, %d1 : index, index
}

// Index computations of the region are carried out of it.
// CHECK-LABEL: func.func @fusion_with_index_computations
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>, %[[N:.+]]: index
func.func @fusion_with_index_computations(%x: tensor<?xf32>, %n: index) -> (index, index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK-DAG: %[[TWICE:.+]] = arith.muli %[[N]], %[[C2]]
  // CHECK-DAG: %[[SIZE:.+]] = tensor.dim %[[X]], %[[C0]]
  // CHECK-DAG: %[[BOTH:.+]] = arith.addi %[[SIZE]], %[[SIZE]]
  // CHECK: return %[[TWICE]], %[[BOTH]], %[[N]]
  %c0 = arith.constant 0 : index
  %z:3 = ad.fusion movement (%a = %x, %m = %n)
      : (tensor<?xf32>, index) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
    %two = arith.constant 2 : index
    %twice = arith.muli %m, %two : index
    %0 = ad.broadcast %a(%twice) : tensor<?xf32> -> tensor<?xf32>
    %1 = ad.concat axis 0 %a, %a : tensor<?xf32>, tensor<?xf32>
    %2 = ad.broadcast %a(%m) : tensor<?xf32> -> tensor<?xf32>
    ad.yield %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }
  %d0 = tensor.dim %z#0, %c0 : tensor<?xf32>
  %d1 = tensor.dim %z#1, %c0 : tensor<?xf32>
  %d2 = tensor.dim %z#2, %c0 : tensor<?xf32>
  return %d0, %d1, %d2 : index, index, index
}
