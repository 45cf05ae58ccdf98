// RUN: ad-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @unary(
// CHECK-SAME: %[[X:.+]]: tensor<?x3xf32>
// CHECK: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK: %[[SIZE:.+]] = tensor.dim %[[X]], %[[ZERO]]
// CHECK: return %[[SIZE]]
func.func @unary(%x: tensor<?x3xf32>) -> index {
  %zero = arith.constant 0 : index
  %y = ad.exp %x : tensor<?x3xf32>
  %z = ad.tanh %y : tensor<?x3xf32>
  %size = tensor.dim %z, %zero : tensor<?x3xf32>
  return %size : index
}

// Where both sizes are known at run time only, the one that is not 1 wins.
// CHECK-LABEL: func.func @two_unknown_sizes(
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>, %[[Y:.+]]: tensor<?xf32>
// CHECK-DAG: %[[P:.+]] = tensor.dim %[[X]]
// CHECK-DAG: %[[Q:.+]] = tensor.dim %[[Y]]
// CHECK: %[[IS_ONE:.+]] = arith.cmpi eq, %[[P]], %{{.+}} : index
// CHECK: %[[SIZE:.+]] = arith.select %[[IS_ONE]], %[[Q]], %[[P]]
// CHECK: return %[[SIZE]]
func.func @two_unknown_sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> index {
  %zero = arith.constant 0 : index
  %z = ad.add %x, %y : tensor<?xf32>
  %size = tensor.dim %z, %zero : tensor<?xf32>
  return %size : index
}

// CHECK-LABEL: func.func @one_unknown_size(
// CHECK-SAME: %{{.+}}: tensor<4x1xf32>, %[[Y:.+]]: tensor<?xf32>
// CHECK: %[[SIZE:.+]] = tensor.dim %[[Y]]
// CHECK-NOT: select
// CHECK: return %[[SIZE]]
func.func @one_unknown_size(%x: tensor<4x1xf32>, %y: tensor<?xf32>) -> index {
  %one = arith.constant 1 : index
  %z = ad.add %x, %y : tensor<4x1xf32>, tensor<?xf32>
  %size = tensor.dim %z, %one : tensor<4x?xf32>
  return %size : index
}

// Sizes of one origin are the same.
// CHECK-LABEL: func.func @same_source(
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>
// CHECK-NOT: select
// CHECK: %[[SIZE:.+]] = tensor.dim %[[X]]
// CHECK-NOT: select
// CHECK: return %[[SIZE]]
func.func @same_source(%x: tensor<?xf32>) -> index {
  %zero = arith.constant 0 : index
  %y = ad.exp %x : tensor<?xf32>
  %z = ad.add %x, %y : tensor<?xf32>
  %size = tensor.dim %z, %zero : tensor<?xf32>
  return %size : index
}

// CHECK-LABEL: func.func @stop_gradient(
// CHECK-SAME: %[[X:.+]]: tensor<3x?xf32>
// CHECK: %[[SIZE:.+]] = tensor.dim %[[X]], %{{.+}}
// CHECK: return %[[SIZE]]
func.func @stop_gradient(%x: tensor<3x?xf32>) -> index {
  %one = arith.constant 1 : index
  %y = ad.exp %x : tensor<3x?xf32>
  %z = ad.stop_gradient %y : tensor<3x?xf32>
  %size = tensor.dim %z, %one : tensor<3x?xf32>
  return %size : index
}
