// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// DEFINE: %{arguments} = --cache off --arg a=normal:1 --arg b=normal:2 --arg c=normal:3
// RUN: rm -rf %t.*
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=layers -o %t.layers.mlir
// RUN: ad-runner %s --target cpu %{arguments} --out-dir %t.grow
// RUN: ad-runner %s --target cpu %{arguments} --fuse single --out-dir %t.single
// RUN: ad-runner %t.layers.mlir --target cpu %{arguments} --out-dir %t.layers
// RUN: ad-runner %s --target reference %{arguments} --numerics reproducible --out-dir %t.interpreter
// RUN: diff -r %t.grow %t.interpreter
// RUN: diff -r %t.single %t.interpreter
// RUN: diff -r %t.layers %t.interpreter

// y + transpose(y) is the same fused and not fused, where y is a contraction, an elementwise operation, or large.
func.func @main(%a: tensor<37x37xf32> {ad.name = "a"}, %b: tensor<37x37xf32> {ad.name = "b"}, %c: tensor<200x200xf32> {ad.name = "c"})
    -> (tensor<37x37xf32> {ad.name = "y"}, tensor<37x37xf32> {ad.name = "z"}, tensor<200x200xf32> {ad.name = "large"}) {
  %y = ad.dot %a, %b : (tensor<37x37xf32>, tensor<37x37xf32>) -> tensor<37x37xf32>
  %yt = ad.transpose %y [1, 0] : tensor<37x37xf32>
  %ys = ad.add %y, %yt : tensor<37x37xf32>

  %z = ad.mul %a, %b : tensor<37x37xf32>
  %zt = ad.transpose %z [1, 0] : tensor<37x37xf32>
  %zs = ad.add %z, %zt : tensor<37x37xf32>

  %q = ad.exp2 %c : tensor<200x200xf32>
  %qt = ad.transpose %q [1, 0] : tensor<200x200xf32>
  %qs = ad.add %q, %qt : tensor<200x200xf32>
  return %ys, %zs, %qs : tensor<37x37xf32>, tensor<37x37xf32>, tensor<200x200xf32>
}
