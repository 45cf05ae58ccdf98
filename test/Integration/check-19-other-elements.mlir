// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner %s --target cpu
// RUN: ad-runner %s --target reference
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=reference -o %t.mlir
// RUN: ad-runner %t.mlir --target cpu
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=single -o %t.single
// RUN: ad-runner %t.single --target cpu

// Check 19: y + transpose(y) is the same fused and not fused, where y is a contraction, an elementwise operation, or large.
func.func @main() -> (tensor<8x8xf32> {ad.name = "y"}) {
  %n = ad.iota axis 0 : tensor<8x8xf32>
  %m = ad.iota axis 1 : tensor<8x8xf32>
  %x = ad.sub %n, %m : tensor<8x8xf32>

  %y = ad.dot %x, %n : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %yt = ad.transpose %y [1, 0] : tensor<8x8xf32>
  %ys = ad.add %y, %yt : tensor<8x8xf32>
  %b:2 = ad.barrier %y, %yt : tensor<8x8xf32>, tensor<8x8xf32>
  %bs = ad.add %b#0, %b#1 : tensor<8x8xf32>
  check.expect_eq(%ys, %bs) : tensor<8x8xf32>

  %z = ad.mul %x, %m : tensor<8x8xf32>
  %zt = ad.transpose %z [1, 0] : tensor<8x8xf32>
  %zs = ad.add %z, %zt : tensor<8x8xf32>
  %c:2 = ad.barrier %z, %zt : tensor<8x8xf32>, tensor<8x8xf32>
  %cs = ad.add %c#0, %c#1 : tensor<8x8xf32>
  check.expect_eq(%zs, %cs) : tensor<8x8xf32>

  %p = ad.iota axis 0 : tensor<200x200xf32>
  %q = ad.exp2 %p : tensor<200x200xf32>
  %qt = ad.transpose %q [1, 0] : tensor<200x200xf32>
  %qs = ad.add %q, %qt : tensor<200x200xf32>
  %d:2 = ad.barrier %q, %qt : tensor<200x200xf32>, tensor<200x200xf32>
  %ds = ad.add %d#0, %d#1 : tensor<200x200xf32>
  check.expect_eq(%qs, %ds) : tensor<200x200xf32>
  return %ys : tensor<8x8xf32>
}
