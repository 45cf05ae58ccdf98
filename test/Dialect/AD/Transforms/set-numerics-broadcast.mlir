// RUN: ad-opt %s --ad-set-numerics=numerics=reproducible | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics=numerics=reproducible --ad-set-numerics | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-verify-numerics -o /dev/null

// CHECK-LABEL: @static
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf32>, %[[B:.+]]: tensor<3xf32>
func.func @static(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[WIDE:.+]] = ad.broadcast %[[B]] {allow = #ad.allow<none>} : tensor<3xf32> -> tensor<4x3xf32>
  // CHECK: ad.add %[[X]], %[[WIDE]] {allow = #ad.allow<none>} : tensor<4x3xf32>
  %y = ad.add %x, %b : tensor<4x3xf32>, tensor<3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: @both_operands
// CHECK-SAME: %[[X:.+]]: tensor<4x1xf32>, %[[Y:.+]]: tensor<1x3xf32>
func.func @both_operands(%x: tensor<4x1xf32>, %y: tensor<1x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[XW:.+]] = ad.broadcast %[[X]]
  // CHECK: %[[YW:.+]] = ad.broadcast %[[Y]]
  // CHECK: ad.mul %[[XW]], %[[YW]] {{.*}} : tensor<4x3xf32>
  %z = ad.mul %x, %y : tensor<4x1xf32>, tensor<1x3xf32>
  return %z : tensor<4x3xf32>
}

// CHECK-LABEL: @select_broadcasts_its_condition
func.func @select_broadcasts_its_condition(%c: tensor<4x1xi1>, %x: tensor<4x3xf32>, %z: tensor<f32>) -> tensor<4x3xf32> {
  // CHECK: ad.broadcast %{{.+}} : tensor<4x1xi1> -> tensor<4x3xi1>
  // CHECK: ad.broadcast %{{.+}} : tensor<f32> -> tensor<4x3xf32>
  // CHECK: ad.select {{.*}} : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>
  %y = ad.select %c, %x, %z : tensor<4x1xi1>, tensor<4x3xf32>, tensor<f32>
  return %y : tensor<4x3xf32>
}

// Either size may be 1 at run time: the common size is computed and both operands are broadcast to it.
// CHECK-LABEL: @two_unknown_sizes
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>, %[[Y:.+]]: tensor<?xf32>
func.func @two_unknown_sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-DAG: %[[P:.+]] = tensor.dim %[[X]]
  // CHECK-DAG: %[[Q:.+]] = tensor.dim %[[Y]]
  // CHECK: %[[ONE:.+]] = arith.cmpi eq, %[[P]]
  // CHECK: %[[N:.+]] = arith.select %[[ONE]], %[[Q]], %[[P]]
  // CHECK: %[[XW:.+]] = ad.broadcast %[[X]](%[[N]])
  // CHECK: %[[YW:.+]] = ad.broadcast %[[Y]](%[[N]])
  // CHECK: ad.add %[[XW]], %[[YW]]
  %z = ad.add %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}

// Sizes of one origin need no check.
// CHECK-LABEL: @one_origin
// CHECK-NOT: ad.broadcast
func.func @one_origin(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %e = ad.exp %x : tensor<?x8xf32>
  %d = ad.dot %e, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %t = ad.transpose %d [1, 0] : tensor<?x8xf32>
  %u = ad.transpose %t [1, 0] : tensor<8x?xf32>
  %y = ad.add %u, %x : tensor<?x8xf32>
  %s = ad.reduce_sum %y axes [1] keep_dims : tensor<?x8xf32> -> tensor<?x1xf32>
  %q = ad.mul %s, %s : tensor<?x1xf32>
  %z = ad.mul %x, %y : tensor<?x8xf32>
  // CHECK: return
  return %z : tensor<?x8xf32>
}

// CHECK-LABEL: @kept_axis
// CHECK-SAME: %[[X:.+]]: tensor<?x8xf32>
func.func @kept_axis(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[M:.+]] = ad.reduce_max
  %m = ad.reduce_max %x axes [1] keep_dims : tensor<?x8xf32> -> tensor<?x1xf32>
  // CHECK: %[[N:.+]] = tensor.dim %[[X]]
  // CHECK-NOT: arith.select
  // CHECK: %[[MW:.+]] = ad.broadcast %[[M]](%[[N]])
  // CHECK: ad.sub %[[X]], %[[MW]]
  %y = ad.sub %x, %m : tensor<?x8xf32>, tensor<?x1xf32>
  return %y : tensor<?x8xf32>
}

// An unknown size against a number: the unknown one is 1 or the number, checked by the broadcast.
// CHECK-LABEL: @unknown_against_number
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>, %[[Y:.+]]: tensor<4xf32>
func.func @unknown_against_number(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[XW:.+]] = ad.broadcast %[[X]] {{.*}} : tensor<?xf32> -> tensor<4xf32>
  // CHECK: ad.add %[[XW]], %[[Y]] {{.*}} : tensor<4xf32>
  %z = ad.add %x, %y : tensor<?xf32>, tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: @three_unknown_sizes
func.func @three_unknown_sizes(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-COUNT-2: arith.select
  // CHECK-COUNT-3: ad.broadcast
  // CHECK: ad.fma
  %w = ad.fma %x, %y, %z : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  return %w : tensor<?xf32>
}

// CHECK-LABEL: @bias_of_unknown_size
// CHECK-SAME: %[[X:.+]]: tensor<?x8xf32>, %[[W:.+]]: tensor<8x2xf32>, %[[B:.+]]: tensor<?x2xf32>, %[[V:.+]]: tensor<2xf32>
func.func @bias_of_unknown_size(%x: tensor<?x8xf32>, %w: tensor<8x2xf32>, %b: tensor<?x2xf32>, %v: tensor<2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  // CHECK: %[[N:.+]] = tensor.dim %[[X]]
  // CHECK: %[[BW:.+]] = ad.broadcast %[[B]](%[[N]]) {{.*}} : tensor<?x2xf32> -> tensor<?x2xf32>
  // CHECK: ad.gemm %[[X]], %[[W]], %[[BW]]
  %y = ad.gemm %x, %w, %b : (tensor<?x8xf32>, tensor<8x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  // CHECK: ad.gemm %[[X]], %[[W]], %[[V]]
  %z = ad.gemm %x, %w, %v : (tensor<?x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  return %y, %z : tensor<?x2xf32>, tensor<?x2xf32>
}
