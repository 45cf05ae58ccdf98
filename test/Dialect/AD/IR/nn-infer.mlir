// RUN: ad-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[X:.+]]: tensor<?x8xf32>
func.func @rows(%x: tensor<?x8xf32>, %s: tensor<8xf32>, %c: tensor<?xi32>) -> (index, index, index, index, index) {
  // CHECK-NEXT: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-NEXT: %[[ROWS:.+]] = tensor.dim %[[X]], %[[C0]]
  // CHECK-NEXT: return %[[ROWS]], %[[ROWS]], %[[ROWS]], %[[ROWS]], %[[ROWS]]
  %c0 = arith.constant 0 : index
  %0 = ad.softmax %x axis 1 : tensor<?x8xf32>
  %1 = ad.log_softmax %x axis 0 : tensor<?x8xf32>
  %2 = ad.layer_norm %x, %s, %s epsilon 0.0 : tensor<?x8xf32>, tensor<8xf32>
  %3 = ad.rms_norm %x, %s epsilon 0.0 : tensor<?x8xf32>, tensor<8xf32>
  %4 = ad.cross_entropy %x, %c : tensor<?x8xf32>, tensor<?xi32> -> tensor<?xf32>
  %d0 = tensor.dim %0, %c0 : tensor<?x8xf32>
  %d1 = tensor.dim %1, %c0 : tensor<?x8xf32>
  %d2 = tensor.dim %2, %c0 : tensor<?x8xf32>
  %d3 = tensor.dim %3, %c0 : tensor<?x8xf32>
  %d4 = tensor.dim %4, %c0 : tensor<?xf32>
  return %d0, %d1, %d2, %d3, %d4 : index, index, index, index, index
}
