// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @scaled_dot_c1_operand(%a: tensor<4x8xf64>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.scaled_dot' op operand #0 must be tensor of f32, f16 or bf16, but got 'tensor<4x8xf64>'}}
  %c:3 = ad.scaled_dot %a, %b : (tensor<4x8xf64>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @scaled_dot_c1_result(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.scaled_dot' op result #0 must be tensor of f32, f16 or bf16, but got 'tensor<4x2xf8E4M3FN>'}}
  %c:3 = ad.scaled_dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf8E4M3FN>
  return
}

// -----

func.func @scaled_dot_c2_one(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'ad.scaled_dot' op expected no scales, those of lhs and rhs, or those of lhs, rhs and cotangent, but got 1}}
  %c:3 = ad.scaled_dot %a, %b scales(%s) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @scaled_dot_c2_type(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{use of value '%s' expects different type than prior uses: 'tensor<f32>' vs 'tensor<1xf32>'}}
  %c:3 = ad.scaled_dot %a, %b scales(%s, %s) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @scaled_dot_c3_type(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.scaled_dot' op expected f8E4M3FN or f8E5M2 as types to round to, but got 'bf16'}}
  %c:3 = ad.scaled_dot %a, %b types [f8E4M3FN, bf16, f8E5M2] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @scaled_dot_c3_count(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{expected the types of lhs, rhs and cotangent, but got 1 type}}
  %c:3 = ad.scaled_dot %a, %b types [f8E4M3FN] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @scaled_dot_c4_sizes(%a: tensor<4x8xf32>, %b: tensor<7x2xf32>) {
  // expected-error @+1 {{'ad.scaled_dot' op contracting axes 1 and 0 have sizes 8 and 7}}
  %c:3 = ad.scaled_dot %a, %b : (tensor<4x8xf32>, tensor<7x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @scaled_dot_c4_result(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.scaled_dot' op expected a result of shape 4x2, but got 2x4}}
  %c:3 = ad.scaled_dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @default_axes(%a: tensor<f32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{expected batch and contract lists, since matmul of ranks 0 and 2 has no default}}
  %c:3 = ad.scaled_dot %a, %b : (tensor<f32>, tensor<8x2xf32>) -> tensor<2xf32>
  return
}
