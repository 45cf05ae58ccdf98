// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-verify-plain

func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @operations(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.exp' op is no operation of upstream; run --ad-to-plain-linalg, which ends with this pass}}
  %y = ad.exp %x : tensor<4xf32>
  // expected-error @+1 {{'check.expect_finite' op is no operation of upstream}}
  check.expect_finite(%y) : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op has an attribute of Adjoint; run --ad-strip-attributes first}}
func.func @arguments(%x: tensor<4xf32> {ad.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{'builtin.module' op has an attribute of Adjoint}}
module attributes {ad.numerics = #ad.numerics<strict>} {
}
