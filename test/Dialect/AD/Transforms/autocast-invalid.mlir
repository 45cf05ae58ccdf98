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
