// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Lanes without an element take part in no join: a product that underflows to -0 stays -0 next to them.
//
// RUN: ad-runner %s --target cpu --numerics reproducible
// RUN: ad-runner %s --target reference --numerics reproducible

func.func @main() -> (tensor<2xf64> {ad.name = "y"}) {
  %small = ad.constant dense<[[1.0e-323], [1.0e-323]]> : tensor<2x1xf64>
  %less = ad.constant dense<-0.25> : tensor<1xf64>
  %none = ad.constant dense<0.0> : tensor<2x0xf64>
  %k:3 = ad.barrier %small, %less, %none : tensor<2x1xf64>, tensor<1xf64>, tensor<2x0xf64>
  %y = ad.dot %k#0, %k#1 batch [] x [] contract [1] x [0] {order = #ad.order<lanes = 16, chunk = 64>}
      : (tensor<2x1xf64>, tensor<1xf64>) -> tensor<2xf64>
  %minus = ad.constant dense<-0.0> : tensor<2xf64>
  check.expect_eq(%y, %minus) : tensor<2xf64>
  %empty = ad.reduce_sum %k#2 axes [1] {order = #ad.order<lanes = 16, chunk = 64>} : tensor<2x0xf64> -> tensor<2xf64>
  %plus = ad.constant dense<0.0> : tensor<2xf64>
  check.expect_eq(%empty, %plus) : tensor<2xf64>
  return %y : tensor<2xf64>
}
