// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-set-numerics --ad-fuse | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=layers | FileCheck %s

// No fusion waits for something that waits for it.

// A contraction needs all of one member of a chain, and the next member needs the contraction: it must run between them.
// CHECK-LABEL: @between
func.func @between(%x: tensor<200x200xf32>, %w: tensor<200x200xf32>) -> tensor<200x200xf32> {
  // CHECK: %[[E:.+]] = ad.fusion elementwise
  // CHECK: ad.exp
  // CHECK: %[[D:.+]] = ad.fusion dot ({{.*}}%[[E]]
  // CHECK: ad.dot
  // CHECK: ad.add
  %e = ad.exp %x : tensor<200x200xf32>
  %d = ad.dot %e, %w : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xf32>
  %s = ad.add %e, %d : tensor<200x200xf32>
  return %s : tensor<200x200xf32>
}

// Two pairs that need each other crosswise: %a -> %d -> %q and %b -> %c -> %p, where %p and %q also use %a and %b. One of the pairs
// may be joined, not both, which would leave two fusions that wait for each other.
// CHECK-LABEL: @crosswise
func.func @crosswise(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-COUNT-3: ad.fusion
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %a = ad.exp %x : tensor<4x4xf32>
  %b = ad.sin %y : tensor<4x4xf32>
  %c = ad.dot %b, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = ad.dot %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = ad.add %a, %c : tensor<4x4xf32>
  %q = ad.add %b, %d : tensor<4x4xf32>
  return %p, %q : tensor<4x4xf32>, tensor<4x4xf32>
}

// The host looks at a value of the chain before the chain goes on.
// CHECK-LABEL: @host_between
func.func @host_between(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ad.fusion
  // CHECK: ad.exp
  // CHECK: ad.receive "seen"
  // CHECK: ad.feed "late"
  // CHECK: ad.fusion
  // CHECK: ad.add
  %e = ad.exp %x : tensor<4xf32>
  ad.receive "seen"(%e) : tensor<4xf32>
  %late = ad.feed "late" : tensor<4xf32>
  %y = ad.add %e, %late : tensor<4xf32>
  return %y : tensor<4xf32>
}
