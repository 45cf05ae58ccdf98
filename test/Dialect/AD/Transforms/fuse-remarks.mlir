// RUN: ad-opt %s --ad-fuse --mlir-disable-threading --remarks-filter=ad-fuse -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: [Passed] fused | Category:ad-fuse | kind=elementwise, operations=2, results=2
func.func @both_used(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = ad.exp %x : tensor<4xf32>
  %n = ad.neg %e : tensor<4xf32>
  return %e, %n : tensor<4xf32>, tensor<4xf32>
}

// y + transpose(y): the points at which y is read differ.
func.func @other_points(%x: tensor<300x300xf32>) -> tensor<300x300xf32> {
  // CHECK: fuse-remarks.mlir:[[#@LINE+1]]:8: remark: [Missed] producer-stays-outside | Category:ad-fuse | operation=ad.exp, reason="another user runs before the fusion"
  %y = ad.exp %x : tensor<300x300xf32>
  %t = ad.transpose %y [1, 0] : tensor<300x300xf32>
  %s = ad.add %y, %t : tensor<300x300xf32>
  return %s : tensor<300x300xf32>
}

func.func @other_points_of_a_small_one(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK: fuse-remarks.mlir:[[#@LINE+1]]:8: remark: [Missed] producer-stays-outside | Category:ad-fuse | operation=ad.exp, reason="it is read both at the points of the fusion and elsewhere"
  %y = ad.exp %x : tensor<3x3xf32>
  %t = ad.transpose %y [1, 0] : tensor<3x3xf32>
  %s = ad.add %y, %t : tensor<3x3xf32>
  return %s : tensor<3x3xf32>
}

func.func @in_a_contraction(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: fuse-remarks.mlir:[[#@LINE+1]]:8: remark: [Missed] producer-stays-outside | Category:ad-fuse | operation=ad.exp, reason="the contraction would compute it again for every tile"
  %e = ad.exp %x : tensor<4x8xf32>
  %d = ad.dot %e, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %d : tensor<4x2xf32>
}

func.func @other_order(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4xf32> {
  // CHECK: fuse-remarks.mlir:[[#@LINE+1]]:8: remark: [Missed] producer-stays-outside | Category:ad-fuse | operation=ad.dot, reason="the fusion sums in another order"
  %d = ad.dot %x, %w {order = #ad.order<block = 512>} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %s = ad.reduce_sum %d axes [1] {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<4x2xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// Without --ad-set-numerics either operand might be repeated.
func.func @other_shape(%p: tensor<?xf32>, %q: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: fuse-remarks.mlir:[[#@LINE+1]]:8: remark: [Missed] producer-stays-outside | Category:ad-fuse | operation=ad.exp, reason="its shape differs from the kernel's iteration space"
  %g = ad.exp %p : tensor<?xf32>
  %s = ad.add %g, %q : tensor<?xf32>
  return %s : tensor<?xf32>
}
