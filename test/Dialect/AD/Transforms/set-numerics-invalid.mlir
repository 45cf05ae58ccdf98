// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A contract under a name that nothing reads has no effect, and is an error for that reason.
// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-set-numerics

// expected-error @+1 {{'func.func' op expected a contract as ad.numerics or ad.adjoint_numerics, but got it as 'numerics', which nothing reads}}
func.func @without_prefix() attributes {numerics = #ad.numerics<fast>} {
  return
}

// -----

// expected-error @+1 {{'builtin.module' op expected a contract as ad.numerics or ad.adjoint_numerics, but got it as 'da.numerics', which nothing reads}}
module attributes {da.numerics = #ad.numerics<fast>} {
}
