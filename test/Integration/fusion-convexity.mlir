// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=strict --ad-to-cpu-fusion | FileCheck %s
// RUN: ad-runner %s --arg x=normal:1 --arg y=normal:2 --arg w=normal:3 --print > %t.fused
// RUN: ad-runner %s --arg x=normal:1 --arg y=normal:2 --arg w=normal:3 --print --fuse single > %t.single
// RUN: cmp %t.fused %t.single

// No fusion waits for something that waits for it, and the values stay what they were.

// An operation that has a kernel of its own is between two that would fuse.
// CHECK-LABEL: func.func @diamond
// CHECK: %[[E:.+]] = ad.fusion elementwise
// CHECK-NEXT: ad.exp
// CHECK-NEXT: ad.yield
// CHECK: %[[C:.+]] = ad.fusion {{[a-z]+}} ({{.*}} = %[[E]])
// CHECK-NEXT: ad.cumsum
// CHECK: ad.fusion elementwise ({{.*}} = %[[E]], {{.*}} = %[[C]])
// CHECK-NEXT: ad.add
func.func @diamond(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = ad.exp %x : tensor<8x8xf32>
  %c = ad.cumsum %e axis 0 : tensor<8x8xf32>
  %y = ad.add %e, %c : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// Two contractions, one after the other, claim the sum of their results: the second keeps it.
// CHECK-LABEL: func.func @claimed_twice
// CHECK: ad.fusion dot
// CHECK-NOT: ad.add
// CHECK: ad.fusion dot
// CHECK-NEXT: ad.dot
// CHECK-NEXT: ad.add
// CHECK-NOT: ad.fusion
func.func @claimed_twice(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %d = ad.dot %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %f = ad.dot %d, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = ad.add %d, %f : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// The sum over columns reads what its user's fusion would compute: it stays between the two.
// CHECK-LABEL: func.func @reduced_between
// CHECK: %[[E:.+]] = ad.fusion elementwise
// CHECK-NEXT: ad.exp
// CHECK-NEXT: ad.yield
// CHECK: %[[S:.+]] = ad.fusion reduce ({{.*}} = %[[E]])
// CHECK: ad.fusion elementwise ({{.*}} = %[[E]], {{.*}} = %[[S]])
func.func @reduced_between(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = ad.exp %x : tensor<8x8xf32>
  %s = ad.reduce_sum %e axes [0] : tensor<8x8xf32> -> tensor<8xf32>
  %y = ad.mul %e, %s : tensor<8x8xf32>, tensor<8xf32>
  return %y : tensor<8x8xf32>
}

// %q joins what it is used by, far apart: that fusion needs %u and is needed by %t, so that %p cannot join %t, which
// would make %u wait for %t.
// CHECK-LABEL: func.func @spanned
// CHECK: %[[P:.+]]:2 = ad.fusion elementwise
// CHECK-NEXT: ad.exp
// CHECK: %[[Q:.+]]:2 = ad.fusion dot ({{.*}} = %[[P]]#1
// CHECK: ad.fusion dot ({{.*}} = %[[Q]]#0, {{.*}}, {{.*}} = %[[P]]#0)
func.func @spanned(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %p = ad.exp %x : tensor<8x8xf32>
  %q = ad.tanh %y : tensor<8x8xf32>
  %r = ad.add %q, %y : tensor<8x8xf32>
  %d = ad.dot %r, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = ad.add %p, %d : tensor<8x8xf32>
  %u = ad.mul %p, %w : tensor<8x8xf32>
  %e = ad.dot %u, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = ad.add %q, %e : tensor<8x8xf32>
  return %t, %v : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x8xf32> {ad.name = "x"}, %y: tensor<8x8xf32> {ad.name = "y"}, %w: tensor<8x8xf32> {ad.name = "w"})
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = func.call @diamond(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = func.call @claimed_twice(%x, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = func.call @reduced_between(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3:2 = func.call @spanned(%x, %y, %w) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %0, %1, %2, %3#0, %3#1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
