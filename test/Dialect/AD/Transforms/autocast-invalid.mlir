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

// -----

// expected-error@+1 {{policy 'ad.precision': expected contractions (dot, gemm) in always, since it computes in 8 bits, but got 'add'}}
module attributes {ad.precision = #ad.precision<compute = f8E4M3FN, always = [dot, add]>} {
  func.func @sum_in_bytes(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {ad.precision = #ad.precision<f8>} {
  func.func @rule_of_a_sum(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{'ad.add' op expected a contraction (dot, gemm) to compute in 8 bits by policy 'f8'; write follow or never as its 'ad.precision'}}
    %y = ad.add %x, %x {ad.precision = #ad.precision<always>} : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {ad.precision = #ad.precision<f8>} {
  // expected-error@+1 {{expected 'ad.scales' of type tensor<2x3xf32> for the 2 contractions in 8 bits of @number_of_scales, but got 'tensor<1x3xf32>'}}
  func.func @number_of_scales(%x: tensor<4x4xf32>, %s: tensor<1x3xf32> {ad.scales}) -> tensor<4x4xf32> {
    %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %z = ad.dot %y, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %z : tensor<4x4xf32>
  }
}

// -----

module attributes {ad.precision = #ad.precision<f8>} {
  func.func private @recursion(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error@+1 {{'func.call' op expected no recursion in a function with 'ad.scales'}}
    %y = call @recursion(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }

  func.func @recursive_scales(%x: tensor<4x4xf32>, %s: tensor<1x3xf32> {ad.scales}) -> tensor<4x4xf32> {
    %y = call @recursion(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

func.func @rule_of_several_types(%x: tensor<8xf32>, %y: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf16>)
    attributes {ad.precision = #ad.precision<bf16>} {
  // expected-error@+1 {{expected no 'ad.precision', since its results have several types}}
  %0:2 = ad.sort %x, %y axis 0 {ad.precision = #ad.precision<always>} : tensor<8xf32>, tensor<8xf16>
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf16>
}
