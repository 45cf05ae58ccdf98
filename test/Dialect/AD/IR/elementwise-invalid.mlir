// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @exp_i1_element(%x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.exp' op operand #0 must be tensor of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<4xi32>'}}
  %y = ad.exp %x : tensor<4xi32>
  return
}

// -----

func.func @neg_i1_element(%x: tensor<4xi1>) {
  // expected-error @+1 {{'ad.neg' op operand #0 must be tensor of floats, i8, i32 or i64, but got 'tensor<4xi1>'}}
  %y = ad.neg %x : tensor<4xi1>
  return
}

// -----

func.func @neg_i1_integer_width(%x: tensor<4xi16>) {
  // expected-error @+1 {{'ad.neg' op operand #0 must be tensor of floats, i8, i32 or i64, but got 'tensor<4xi16>'}}
  %y = ad.neg %x : tensor<4xi16>
  return
}

// -----

func.func @not_i1_element(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.not' op operand #0 must be tensor of i1, i8, i32 or i64, but got 'tensor<4xf32>'}}
  %y = ad.not %x : tensor<4xf32>
  return
}

// -----

func.func @exp_i1_rank(%x: tensor<*xf32>) {
  // expected-error @+1 {{'ad.exp' op operand #0 must be tensor of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<*xf32>'}}
  %y = "ad.exp"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @exp_i1_encoding(%x: tensor<4xf32, "dense">) {
  // expected-error @+1 {{'ad.exp' op operand #0 must be tensor of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<4xf32, "dense">'}}
  %y = ad.exp %x : tensor<4xf32, "dense">
  return
}

// -----

func.func @exp_c1_result(%x: tensor<?xf32>) {
  // expected-error @+2 {{'ad.exp' op inferred type(s) 'tensor<?xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error @+1 {{'ad.exp' op failed to infer returned types}}
  %y = "ad.exp"(%x) : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @cast_c1_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.cast' op requires the same shape for all operands and results}}
  %y = "ad.cast"(%x) : (tensor<4xf32>) -> tensor<5xbf16>
  return
}

// -----

func.func @bitcast_c1_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.bitcast' op requires the same shape for all operands and results}}
  %y = "ad.bitcast"(%x) : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @bitcast_c2_width(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.bitcast' op expected element types of one width, but got 'f32' and 'i64'}}
  %y = ad.bitcast %x : tensor<4xf32> -> tensor<4xi64>
  return
}

// -----

func.func @is_finite_c1_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.is_finite' op requires the same shape for all operands and results}}
  %y = "ad.is_finite"(%x) : (tensor<4xf32>) -> tensor<2x2xi1>
  return
}

// -----

func.func @add_c1_element_types(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{custom op 'ad.add' expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %z = ad.add %x, %y : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @add_c2_shapes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{operand shapes do not broadcast: dimension 1 has sizes 3 and 4, in 'tensor<2x3xf32>' and 'tensor<2x4xf32>'}}
  %z = ad.add %x, %y : tensor<2x3xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @add_c2_shapes_generic(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+2 {{'ad.add' op operand shapes do not broadcast: dimension 1 has sizes 3 and 4}}
  // expected-error @+1 {{'ad.add' op failed to infer returned types}}
  %z = "ad.add"(%x, %y) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @add_c3_result(%x: tensor<3xf32>, %y: tensor<1xf32>) {
  // expected-error @+2 {{'ad.add' op inferred type(s) 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<?xf32>'}}
  // expected-error @+1 {{'ad.add' op failed to infer returned types}}
  %z = "ad.add"(%x, %y) : (tensor<3xf32>, tensor<1xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @add_number_of_types(%x: tensor<3xf32>) {
  // expected-error @+1 {{expected one type or 2 types, but got 3}}
  %z = ad.add %x, %x : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @add_scalar_type(%x: f32) {
  // expected-error @+1 {{expected a ranked tensor, but got 'f32'}}
  %z = ad.add %x, %x : f32
  return
}

// -----

func.func @pow_i1_element(%x: tensor<3xi32>) {
  // expected-error @+1 {{'ad.pow' op operand #0 must be tensor of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<3xi32>'}}
  %z = ad.pow %x, %x : tensor<3xi32>
  return
}

// -----

func.func @and_i1_element(%x: tensor<3xf32>) {
  // expected-error @+1 {{'ad.and' op operand #0 must be tensor of i1, i8, i32 or i64, but got 'tensor<3xf32>'}}
  %z = ad.and %x, %x : tensor<3xf32>
  return
}

// -----

func.func @compare_c1_element_types(%x: tensor<3xf32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{custom op 'ad.compare' expected operands of one element type, but got 'f32' and 'i32'; convert one with ad.cast}}
  %z = ad.compare lt %x, %y : tensor<3xf32>, tensor<3xi32>
  return
}

// -----

func.func @select_i1_condition(%x: tensor<3xf32>) {
  // expected-error @+1 {{custom op 'ad.select' expected 3 types, first that of the condition, but got 'tensor<3xf32>'}}
  %z = ad.select %x, %x, %x : tensor<3xf32>
  return
}

// -----

func.func @select_c1_element_types(%c: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<3xf64>) {
  // expected-error @+1 {{custom op 'ad.select' expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %z = ad.select %c, %x, %y : tensor<3xi1>, tensor<3xf32>, tensor<3xf64>
  return
}

// -----

func.func @select_c2_shapes(%c: tensor<2xi1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{operand shapes do not broadcast: dimension 0 has sizes 2 and 3, in 'tensor<2xi1>' and 'tensor<3xf32>' and 'tensor<3xf32>'}}
  %z = ad.select %c, %x, %x : tensor<2xi1>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @fma_i1_element(%x: tensor<3xi32>) {
  // expected-error @+1 {{'ad.fma' op operand #0 must be tensor of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<3xi32>'}}
  %z = ad.fma %x, %x, %x : tensor<3xi32>
  return
}

// -----

func.func @allow_of_another_kind(%x: tensor<3xf32>) {
  // expected-error @+1 {{'ad.exp' op attribute 'allow' failed to satisfy constraint: permissions of one operation}}
  %z = ad.exp %x {allow = 1 : i32} : tensor<3xf32>
  return
}

// -----

func.func @allow_unknown(%x: tensor<3xf32>) {
  // expected-error @+1 {{expected reorder, algebra, contract, widen, mma, narrow, approx, finite or none, but got 'speed'}}
  %z = ad.exp %x {allow = #ad.allow<speed>} : tensor<3xf32>
  return
}
