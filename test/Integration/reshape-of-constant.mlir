// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s --arg n=zeros --dim n.0=1
// RUN: ad-runner --target cpu %s --arg n=zeros --dim n.0=1

// A reshape whose operand is made in the same kernel has no buffer to look at.
func.func @main(%n: tensor<?xf32> {ad.name = "n"}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %n, %c0 : tensor<?xf32>
  %c = ad.constant dense<3.0> : tensor<f32>
  %r = ad.reshape %c(%size) : tensor<f32> -> tensor<?xf32>
  %three = ad.constant dense<3.0> : tensor<1xf32>
  %seen = tensor.cast %r : tensor<?xf32> to tensor<1xf32>
  check.expect_eq(%seen, %three) : tensor<1xf32>
  return %r : tensor<?xf32>
}
