// RUN: ad-opt %s --canonicalize --cse | FileCheck %s

// Equal barriers stay apart, and nothing is known of their results.
// CHECK-LABEL: func.func @barriers_stay(
// CHECK-SAME: %[[X:.+]]: tensor<f32>
// CHECK-DAG: %[[A:.+]] = ad.barrier %[[X]]
// CHECK-DAG: %[[B:.+]] = ad.barrier %[[X]]
// CHECK: ad.sub %[[A]], %[[B]]
func.func @barriers_stay(%x: tensor<f32>) -> tensor<f32> {
  %a = ad.barrier %x : tensor<f32>
  %b = ad.barrier %x : tensor<f32>
  %z = ad.sub %a, %b : tensor<f32>
  return %z : tensor<f32>
}

// CHECK-LABEL: func.func @constant_after_barrier(
// CHECK: %[[ONE:.+]] = ad.constant
// CHECK: %[[HIDDEN:.+]] = ad.barrier %[[ONE]]
// CHECK: ad.exp %[[HIDDEN]]
func.func @constant_after_barrier() -> tensor<f32> {
  %one = ad.constant dense<1.0> : tensor<f32>
  %hidden = ad.barrier %one : tensor<f32>
  %y = ad.exp %hidden : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @unused_barrier_dies(
// CHECK-NOT: ad.barrier
func.func @unused_barrier_dies(%x: tensor<f32>) {
  %a = ad.barrier %x : tensor<f32>
  return
}

// CHECK-LABEL: func.func @feeds_stay(
// CHECK-COUNT-2: ad.feed "x"
func.func @feeds_stay() {
  %a = ad.feed "x" : tensor<f32>
  %b = ad.feed "x" : tensor<f32>
  return
}

// CHECK-LABEL: func.func @stop_gradient_stays(
// CHECK: ad.stop_gradient
func.func @stop_gradient_stays(%x: tensor<f32>) -> tensor<f32> {
  %a = ad.stop_gradient %x : tensor<f32>
  return %a : tensor<f32>
}
