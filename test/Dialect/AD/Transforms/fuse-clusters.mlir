// Clusters beyond elementwise chains.
// RUN: ad-opt %s --ad-set-numerics --ad-fuse | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=single | FileCheck %s --check-prefix=SINGLE
// RUN: not ad-opt %s --ad-fuse=policy=none 2>&1 | FileCheck %s --check-prefix=POLICY
// POLICY: error: unknown value 'none' of option policy of ad-fuse, which is option fuse of pipelines; expected grow, single or layers

// Bias, activation and residual in the contraction's kernel.
// CHECK-LABEL: @epilogue
// SINGLE-LABEL: @epilogue
func.func @epilogue(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %b: tensor<32xf32>, %r: tensor<8x32xf32>) -> tensor<8x32xf32> {
  // CHECK: ad.fusion dot
  // CHECK-NOT: ad.fusion
  // CHECK: return
  // SINGLE-COUNT-4: ad.fusion
  // SINGLE: return
  %0 = ad.dot %x, %w : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = ad.add %0, %b : tensor<8x32xf32>, tensor<32xf32>
  %2 = ad.relu %1 : tensor<8x32xf32>
  %3 = ad.add %2, %r : tensor<8x32xf32>
  return %3 : tensor<8x32xf32>
}

// A row's maximum, sum and quotient, and the values that the backward pass needs.
// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x1xf32>) {
  // CHECK: %[[Y:.+]]:2 = ad.fusion reduce {{.*}} -> (tensor<8x1xf32>, tensor<8x16xf32>)
  // CHECK-NOT: ad.fusion
  // CHECK: return %[[Y]]#1, %[[Y]]#0
  %m = ad.reduce_max %x axes [1] keep_dims : tensor<8x16xf32> -> tensor<8x1xf32>
  %0 = ad.sub %x, %m : tensor<8x16xf32>, tensor<8x1xf32>
  %1 = ad.exp %0 : tensor<8x16xf32>
  %s = ad.reduce_sum %1 axes [1] keep_dims : tensor<8x16xf32> -> tensor<8x1xf32>
  %y = ad.div %1, %s : tensor<8x16xf32>, tensor<8x1xf32>
  return %y, %s : tensor<8x16xf32>, tensor<8x1xf32>
}

// A reduction of other axes fuses with its producer and with its user.
// CHECK-LABEL: @column_sums
func.func @column_sums(%g: tensor<8x16xf32>, %y: tensor<8x16xf32>, %p: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: ad.fusion reduce
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %0 = ad.mul %g, %y : tensor<8x16xf32>
  %1 = ad.reduce_sum %0 axes [0] : tensor<8x16xf32> -> tensor<16xf32>
  %2 = ad.sub %p, %1 : tensor<16xf32>
  return %2 : tensor<16xf32>
}

// Three projections of one input, and three updates at the end.
// CHECK-LABEL: @siblings
func.func @siblings(%x: tensor<8x16xf32>, %q: tensor<16x16xf32>, %k: tensor<16x16xf32>, %v: tensor<16x16xf32>)
    -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK: %{{.+}}:3 = ad.fusion dot
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %0 = ad.dot %x, %q : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = ad.dot %x, %k : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %2 = ad.dot %x, %v : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %0, %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

// Large ones stay apart: their launches cost little compared with the work.
// CHECK-LABEL: @large_siblings
func.func @large_siblings(%x: tensor<256x16xf32>, %q: tensor<16x256xf32>, %k: tensor<16x256xf32>)
    -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  // CHECK-COUNT-2: ad.fusion dot
  %0 = ad.dot %x, %q : (tensor<256x16xf32>, tensor<16x256xf32>) -> tensor<256x256xf32>
  %1 = ad.dot %x, %k : (tensor<256x16xf32>, tensor<16x256xf32>) -> tensor<256x256xf32>
  return %0, %1 : tensor<256x256xf32>, tensor<256x256xf32>
}

// The fusion of the two sums would have to run both before and after the contraction.
// CHECK-LABEL: @convexity
func.func @convexity(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[E:.+]] = ad.fusion elementwise
  // CHECK-NEXT: ad.exp
  // CHECK: %[[D:.+]] = ad.fusion dot ({{.*}} = %[[E]], {{.*}})
  // CHECK: ad.fusion dot
  %e = ad.exp %x : tensor<8x8xf32>
  %d = ad.dot %e, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %f = ad.dot %d, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = ad.add %f, %e : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// Feeds and receives keep their order: the receive must not wait for the second feed.
// CHECK-LABEL: @effects
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.exp
  // CHECK: ad.receive "seen"
  // CHECK: ad.feed "late"
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.add
  %e = ad.exp %x : tensor<4xf32>
  ad.receive "seen"(%e) : tensor<4xf32>
  %late = ad.feed "late" : tensor<4xf32>
  %y = ad.add %e, %late : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Repeated row values inside a kernel do not hide that another one has to run before it.
// CHECK-LABEL: @branch_between
func.func @branch_between(%x: tensor<8xf32>, %c: i1) -> tensor<f32> {
  // CHECK: %[[FIRST:.+]] = ad.fusion reduce
  // CHECK: scf.if
  // CHECK: ad.fusion elementwise (%{{.+}} = %[[FIRST]])
  // CHECK: ad.fusion reduce (%{{.+}} = %[[FIRST]]
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %s = ad.reduce_sum %x axes [0] keep_dims : tensor<8xf32> -> tensor<1xf32>
  %sb = ad.broadcast %s : tensor<1xf32> -> tensor<8xf32>
  %a = ad.mul %x, %sb : tensor<8xf32>
  %b = scf.if %c -> tensor<8xf32> {
    %n = ad.abs %a : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  %t = ad.reduce_sum %a axes [0] keep_dims : tensor<8xf32> -> tensor<1xf32>
  %tb = ad.broadcast %t : tensor<1xf32> -> tensor<8xf32>
  %d = ad.mul %a, %tb : tensor<8xf32>
  %u = ad.reduce_sum %d axes [0] keep_dims : tensor<8xf32> -> tensor<1xf32>
  %ub = ad.broadcast %u : tensor<1xf32> -> tensor<8xf32>
  %e = ad.mul %d, %ub : tensor<8xf32>
  %f = ad.add %e, %b : tensor<8xf32>
  %r = ad.reduce_sum %f axes [0] : tensor<8xf32> -> tensor<f32>
  return %r : tensor<f32>
}
