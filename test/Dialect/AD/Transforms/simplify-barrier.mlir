// RUN: ad-opt %s --ad-set-numerics=numerics=fast --ad-simplify | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics=numerics=fast --cse --canonicalize | FileCheck %s

// CHECK-LABEL: @constants_stay_after_barrier
func.func @constants_stay_after_barrier() -> tensor<f32> {
  // CHECK: %[[C:.+]] = ad.constant dense<2.000000e+00>
  // CHECK: %[[B:.+]] = ad.barrier %[[C]]
  // CHECK: ad.mul %[[B]], %[[B]]
  %c = ad.constant dense<2.0> : tensor<f32>
  %b = ad.barrier %c : tensor<f32>
  %y = ad.mul %b, %b : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @two_stay_two
func.func @two_stay_two(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[A:.+]] = ad.barrier
  // CHECK: %[[B:.+]] = ad.barrier
  // CHECK: ad.sub %[[A]], %[[B]]
  %a = ad.barrier %x : tensor<f32>
  %b = ad.barrier %x : tensor<f32>
  %y = ad.sub %a, %b : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @recomputation_stays
func.func @recomputation_stays(%x: tensor<f32>) -> tensor<f32> {
  // CHECK-COUNT-2: ad.exp
  %b = ad.barrier %x : tensor<f32>
  %e = ad.exp %x : tensor<f32>
  %f = ad.exp %b : tensor<f32>
  %y = ad.add %e, %f : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @involution_is_not_seen
func.func @involution_is_not_seen(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: ad.neg
  // CHECK: ad.barrier
  // CHECK: ad.neg
  %a = ad.neg %x : tensor<f32>
  %b = ad.barrier %a : tensor<f32>
  %y = ad.neg %b : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @stays_in_the_loop
func.func @stays_in_the_loop(%x: tensor<f32>, %n: index) -> tensor<f32> {
  // CHECK: scf.for
  // CHECK: ad.barrier
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = scf.for %i = %zero to %n step %one iter_args(%c = %x) -> (tensor<f32>) {
    %b = ad.barrier %x : tensor<f32>
    %s = ad.add %c, %b : tensor<f32>
    scf.yield %s : tensor<f32>
  }
  return %y : tensor<f32>
}

// CHECK-LABEL: @unused_goes
func.func @unused_goes(%x: tensor<f32>) -> tensor<f32> {
  // CHECK-NOT: ad.barrier
  // CHECK: return
  %b = ad.barrier %x : tensor<f32>
  return %x : tensor<f32>
}
