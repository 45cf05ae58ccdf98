// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Softmax of large values is finite, and layer_norm of f16 accumulates in f32, where squares of f16 would overflow.
func.func @main() -> tensor<4xf32> {
  %raw = ad.constant dense<[200.0, 0.0, 0.0, 1.0]> : tensor<4xf32>
  %x = ad.barrier %raw : tensor<4xf32>
  %y = ad.softmax %x axis 0 : tensor<4xf32>
  check.expect_finite(%y) : tensor<4xf32>
  %one_hot = ad.constant dense<[1.0, 0.0, 0.0, 0.0]> : tensor<4xf32>
  check.expect_almost_eq(%y, %one_hot) {tolerance = 1.0e-30 : f64} : tensor<4xf32>

  // 600 squared is beyond 65504, the largest f16; mean 0, variance 360000.
  %wide = ad.constant dense<[600.0, -600.0, 600.0, -600.0, 600.0, -600.0, 600.0, -600.0]> : tensor<8xf16>
  %w = ad.barrier %wide : tensor<8xf16>
  %scale = ad.constant dense<1.0> : tensor<8xf16>
  %bias = ad.constant dense<0.0> : tensor<8xf16>
  %n = ad.layer_norm %w, %scale, %bias epsilon 1.0e-5 : tensor<8xf16>, tensor<8xf16>
  %signs = ad.constant dense<[1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]> : tensor<8xf16>
  check.expect_almost_eq(%n, %signs) {tolerance = 1.0e-3 : f64} : tensor<8xf16>
  return %y : tensor<4xf32>
}
