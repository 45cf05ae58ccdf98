// RUN: ad-opt %s --ad-fuse --mlir-disable-threading --remarks-filter=ad-fuse -o /dev/null 2>&1 | FileCheck %s

func.func @used_outside_too(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: fuse-remarks.mlir:[[#@LINE+1]]:8: remark: [Missed] producer-stays-outside | Category:ad-fuse | operation=ad.exp, reason="a user stands outside the fusion"
  %e = ad.exp %x : tensor<4xf32>
  %n = ad.neg %e : tensor<4xf32>
  return %e, %n : tensor<4xf32>, tensor<4xf32>
}

// Without --ad-set-numerics either operand might be repeated.
func.func @other_shape(%p: tensor<?xf32>, %q: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: fuse-remarks.mlir:[[#@LINE+1]]:8: remark: [Missed] producer-stays-outside | Category:ad-fuse | operation=ad.exp, reason="its shape is another one"
  %g = ad.exp %p : tensor<?xf32>
  %s = ad.add %g, %q : tensor<?xf32>
  return %s : tensor<?xf32>
}
