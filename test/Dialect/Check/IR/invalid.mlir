// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @expect_almost_eq_c1_negative(%x: tensor<4xf32>) {
  // expected-error @+1 {{'check.expect_almost_eq' op expected a finite tolerance of at least 0, but got -1.000000e+00}}
  check.expect_almost_eq(%x, %x) {tolerance = -1.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @expect_almost_eq_c1_infinite(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a finite tolerance of at least 0}}
  check.expect_almost_eq(%x, %x) {tolerance = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

func.func @expect_finite_i1_integers(%x: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be tensor of f64, f32, f16, bf16, f8E4M3FN or f8E5M2}}
  check.expect_finite(%x) : tensor<4xi32>
  return
}
