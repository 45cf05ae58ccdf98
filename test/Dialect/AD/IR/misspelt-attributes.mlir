// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An attribute with our prefix that nothing reads is refused on each kind of operation: modules, functions with and without a body,
// arguments, results and operations.
// RUN: ad-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'builtin.module' op has no attribute 'ad.numeric', expected one of ad.numerics, ad.adjoint_numerics, ad.cotangent_sums, ad.precision; did you mean 'ad.numerics'?}}
module attributes {ad.numeric = #ad.numerics<fast>} {
}

// -----

// expected-error @+1 {{'builtin.module' op has no attribute 'ad.mode', expected one of ad.numerics, ad.adjoint_numerics, ad.cotangent_sums, ad.precision}}
module attributes {ad.mode = "fast"} {
}

// -----

// expected-error @+1 {{'func.func' op has no attribute 'ad.numerics_mode', expected one of ad.numerics, ad.adjoint_numerics, ad.cotangent_sums, ad.precision; did you mean 'ad.numerics'?}}
func.func @body() attributes {ad.numerics_mode = #ad.numerics<fast>} {
  return
}

// -----

// expected-error @+1 {{'func.func' op has no attribute 'ad.adjoint_numeric', expected one of ad.numerics, ad.adjoint_numerics, ad.cotangent_sums, ad.precision; did you mean 'ad.adjoint_numerics'?}}
func.func private @declaration() attributes {ad.adjoint_numeric = #ad.numerics<fast>}

// -----

func.func @argument(%x: tensor<4xf32> {ad.name = "x"},
                    // expected-error @+1 {{'func.func' op argument 1 has no attribute 'ad.donate', expected one of ad.name, ad.donated, ad.parameter, ad.scales; did you mean 'ad.donated'?}}
                    %y: tensor<4xf32> {ad.donate = 0}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op argument 0 has no attribute 'ad.nam', expected one of ad.name, ad.donated, ad.parameter, ad.scales; did you mean 'ad.name'?}}
func.func private @declared_argument(tensor<4xf32> {ad.nam = "x"})

// -----

// expected-error @+1 {{'func.func' op result 1 has no attribute 'ad.nam', expected ad.name}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {ad.name = "x"}, tensor<4xf32> {ad.nam = "y"}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @operation(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.tanh' op has no attribute 'ad.allow'; did you mean 'allow'?}}
  %y = ad.tanh %x {ad.allow = #ad.allow<reorder>} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @foreign_operation(%x: tensor<4xf32>) {
  // expected-error @+1 {{'func.return' op has no attribute 'ad.numeric'; none of that prefix says anything about an operation}}
  return {ad.numeric = #ad.numerics<fast>}
}

// -----

func.func @without_value(%g: tensor<4xf32>,
                         // expected-error @+1 {{expected 'ad.donated' of argument 1 to be the number of the result that takes its memory, such as ad.donated = 0, but got no value}}
                         %x: tensor<4xf32> {ad.donated}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @places(%a: tensor<4xf32> {ad.name = "a", ad.donated = 0},
                  // expected-error @+1 {{expected distinct names, but arguments 0 and 1 are both named "a"}}
                  %b: tensor<4xf32> {ad.name = "a"}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

func.func @both_donated(%a: tensor<4xf32> {ad.donated = 0},
                        // expected-error @+1 {{expected result 0 to take one buffer, but arguments 0 and 1 are both donated to it}}
                        %b: tensor<4xf32> {ad.donated = 0}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
