// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @dot_c1_operands(%a: tensor<4x8xf32>, %b: tensor<8x2xf16>) {
  // expected-error @+1 {{'ad.dot' op expected operands of one element type or of two 8-bit float types, but got 'f32' and 'f16'}}
  %c = ad.dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf16>) -> tensor<4x2xf32>
  return
}

// -----

func.func @dot_c1_result(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>) {
  // expected-error @+1 {{'ad.dot' op expected a result with elements of type 'f16' or 'f32', but got 'f64'; convert the result with ad.cast}}
  %c = ad.dot %a, %b : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf64>
  return
}

// -----

func.func @dot_c2_counts(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.dot' op expected as many batch and contracting axes of both operands, but got 0 x 0 and 1 x 2}}
  %c = ad.dot %a, %b contract [1] x [0, 1] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dot_c3_range(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.dot' op expected axes of the right operand of rank 2, but got 2}}
  %c = ad.dot %a, %b contract [1] x [2] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @dot_c3_negative(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.dot' op expected axes of the left operand of rank 2, but got -1}}
  %c = ad.dot %a, %b contract [-1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @dot_c3_repeated(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) {
  // expected-error @+1 {{'ad.dot' op expected each axis of the left operand once, but got 0 twice}}
  %c = ad.dot %a, %b batch [0] x [0] contract [0] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_c4_contracting(%a: tensor<4x8xf32>, %b: tensor<9x2xf32>) {
  // expected-error @+1 {{'ad.dot' op contracting axes 1 and 0 have sizes 8 and 9}}
  %c = ad.dot %a, %b : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @dot_c4_batch(%a: tensor<5x4x8xf32>, %b: tensor<6x8x2xf32>) {
  // expected-error @+1 {{'ad.dot' op batch axes 0 and 0 have sizes 5 and 6}}
  %c = ad.dot %a, %b : (tensor<5x4x8xf32>, tensor<6x8x2xf32>) -> tensor<5x4x2xf32>
  return
}

// -----

func.func @dot_c5_shape(%a: tensor<4x8xf32>, %b: tensor<8x?xf32>) {
  // expected-error @+1 {{'ad.dot' op expected a result of shape 4x?, but got 4x2}}
  %c = ad.dot %a, %b : (tensor<4x8xf32>, tensor<8x?xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @dot_without_default(%a: tensor<4x8xf32>, %b: tensor<5x8x2xf32>) {
  // expected-error @+1 {{expected batch and contract lists, since matmul of ranks 2 and 3 has no default}}
  %c = ad.dot %a, %b : (tensor<4x8xf32>, tensor<5x8x2xf32>) -> tensor<5x4x2xf32>
  return
}

// -----

func.func @dot_with_wrong_attribute(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.dot' op attribute 'order' failed to satisfy constraint: the order of a summation}}
  %c = ad.dot %a, %b {order = 3 : i64} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @gemm_c1_operands(%a: tensor<4x8xf32>, %b: tensor<8x2xf64>) {
  // expected-error @+1 {{'ad.gemm' op expected operands of one element type or of two 8-bit float types}}
  %c = ad.gemm %a, %b : (tensor<4x8xf32>, tensor<8x2xf64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @gemm_c1_bias(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>, %d: tensor<2xf32>) {
  // expected-error @+1 {{'ad.gemm' op expected a bias with elements of type 'f16' or 'f16', but got 'f32'}}
  %c = ad.gemm %a, %b, %d : (tensor<4x8xf16>, tensor<8x2xf16>, tensor<2xf32>) -> tensor<4x2xf16>
  return
}

// -----

func.func @gemm_c2_rank(%a: tensor<5x4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.gemm' op expected operands and a result of rank 2, but got ranks 3, 2 and 3}}
  %c = ad.gemm %a, %b : (tensor<5x4x8xf32>, tensor<8x2xf32>) -> tensor<5x4x2xf32>
  return
}

// -----

func.func @gemm_c3_contracting(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.gemm' op contracting axes 1 and 1 have sizes 8 and 2}}
  %c = ad.gemm %a, %b {transB} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @gemm_c4_shape(%a: tensor<8x4xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.gemm' op expected a result of shape 4x2, but got 2x4}}
  %c = ad.gemm %a, %b {transA} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gemm_c5_bias(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %d: tensor<4xf32>) {
  // expected-error @+1 {{'ad.gemm' op cannot broadcast a bias of shape 4 to 4x2}}
  %c = ad.gemm %a, %b, %d : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @gemm_c6_beta(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.gemm' op expected no beta without a bias}}
  %c = ad.gemm %a, %b {beta = 2.0 : f64} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Each type is named once.
func.func @dot_c1_one_type(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @+1 {{'ad.dot' op expected a result with elements of type 'f32', but got 'f16'; convert the result with ad.cast}}
  %c = ad.dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf16>
  return
}
