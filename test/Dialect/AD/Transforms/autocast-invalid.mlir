// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-autocast

// expected-error@+1 {{policy 'ad.precision': expected operations that compute tensors in always, but got 'matmul', which is no operation}}
module attributes {ad.precision = #ad.precision<compute = bf16, always = [dot, matmul]>} {
  func.func @unknown_operation(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{policy 'ad.precision': expected operations that compute tensors in never, but got 'feed'}}
func.func @no_computation(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ad.precision = #ad.precision<compute = bf16, never = [feed]>} {
  return %x : tensor<4xf32>
}

// -----

func.func @rule_of_a_boundary(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'ad.precision' on an operation that computes tensors}}
  ad.receive "x"(%x) {ad.precision = #ad.precision<always>} : tensor<4xf32>
  return
}

// -----

// The operand of ad.cast_stochastic can only be f32.
// expected-error@+1 {{policy 'ad.precision': expected 'cast_stochastic' in never, since its operand can only be f32, but got it in always}}
func.func @list_of_an_operation_in_f32(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ad.precision = #ad.precision<compute = bf16, always = [cast_stochastic]>} {
  return %x : tensor<4xf32>
}

// -----

func.func @rule_of_an_operation_in_f32(%x: tensor<4xf32>, %key: tensor<i64>) -> tensor<4xbf16> {
  // expected-error@+1 {{expected the rule never, since its operand can only be f32, but got follow}}
  %y = ad.cast_stochastic %x, %key, %key {ad.precision = #ad.precision<follow>}
      : tensor<4xf32>, tensor<i64>, tensor<i64> -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}
