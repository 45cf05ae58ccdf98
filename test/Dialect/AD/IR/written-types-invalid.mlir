// RUN: ad-opt %s --split-input-file --verify-diagnostics
//
// Types that do not fit are reported in the line of the operation, not where its result is used, and in words of the language.

func.func @elements_add(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.add %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_sub(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.sub %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_mul(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.mul %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_div(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.div %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_rem(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.rem %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_max(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.max %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_min(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.min %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_pow(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.pow %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_atan2(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.atan2 %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_compare(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xi1> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.compare lt %x, %z : tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xi1>
}

// -----

func.func @elements_fma(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.fma %x, %x, %z : tensor<4xf32>, tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_clamp(%x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.clamp %x, %z, %z : tensor<4xf32>, tensor<4xf64>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_select(%c: tensor<4xi1>, %x: tensor<4xf32>, %z: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f64'; convert one with ad.cast}}
  %y = ad.select %c, %x, %z : tensor<4xi1>, tensor<4xf32>, tensor<4xf64>
  return %y : tensor<4xf32>
}

// -----

func.func @elements_and(%x: tensor<4xi32>, %z: tensor<4xi64>) -> tensor<4xi32> {
  // expected-error @+1 {{expected operands of one element type, but got 'i32' and 'i64'; convert one with ad.cast}}
  %y = ad.and %x, %z : tensor<4xi32>, tensor<4xi64>
  return %y : tensor<4xi32>
}

// -----

func.func @one_type_of_select(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 3 types, first that of the condition, but got 'tensor<4xf32>'}}
  %y = ad.select %c, %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @cast_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected operand and result of one shape, but got 'tensor<4xf32>' and 'tensor<5xf64>'}}
  %y = ad.cast %x : tensor<4xf32> -> tensor<5xf64>
  return
}

// -----

func.func @is_finite_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected operand and result of one shape, but got 'tensor<4xf32>' and 'tensor<4x1xi1>'}}
  %y = ad.is_finite %x : tensor<4xf32> -> tensor<4x1xi1>
  return
}

// -----

func.func @types_of_dot(%a: tensor<3x3xf32>) {
  // expected-error @+1 {{expected the types of the operands in parentheses and those of the results, as in '(A, B) -> C', but got 'tensor<3x3xf32>'}}
  %y = ad.dot %a, %a : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @types_of_gemm(%a: tensor<3x3xf32>) {
  // expected-error @+1 {{expected the types of the operands in parentheses and those of the results, as in '(A, B) -> C', but got 'tensor<3x3xf32>'}}
  %y = ad.gemm %a, %a : tensor<3x3xf32>
  return
}

// -----

func.func @number_of_types_of_gemm(%a: tensor<3x3xf32>) {
  // expected-error @+1 {{expected the types of two matrices, of the bias if there is one, and of one result, but got '(tensor<3x3xf32>) -> tensor<3x3xf32>'}}
  %y = ad.gemm %a, %a : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func private @f(%x: tensor<3x3xf32>) -> tensor<f32> {
  %s = ad.reduce_sum %x axes [0, 1] : tensor<3x3xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @types_of_value_and_grad(%a: tensor<3x3xf32>) {
  // expected-error @+1 {{expected the types of the operands in parentheses and those of the results, as in '(A, B) -> C', but got 'tensor<3x3xf32>'}}
  %l, %g = ad.value_and_grad @f(%a) wrt [0] : tensor<3x3xf32> -> (tensor<f32>, tensor<3x3xf32>)
  return
}

// -----

func.func private @f(%x: tensor<3x3xf32>) -> tensor<f32> {
  %s = ad.reduce_sum %x axes [0, 1] : tensor<3x3xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @types_of_vjp(%a: tensor<3x3xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected the types of the operands in parentheses and those of the results, as in '(A, B) -> C', but got 'tensor<3x3xf32>'}}
  %l, %g = ad.vjp @f(%a) cotangents(%c) wrt [0] : tensor<3x3xf32>, tensor<f32> -> (tensor<f32>, tensor<3x3xf32>)
  return
}

// -----

func.func @types_of_fusion(%a: tensor<3x3xf32>) {
  // expected-error @+1 {{expected the types of the operands in parentheses and those of the results, as in '(A, B) -> C', but got 'tensor<3x3xf32>'}}
  %y = ad.fusion elementwise (%b = %a) : tensor<3x3xf32> -> tensor<3x3xf32> {
    ad.yield %b : tensor<3x3xf32>
  }
  return
}

// -----

func.func @type_too_many(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 'tensor<4xf32>' as the last type, since operands and results that share a type have one, but got 'tensor<5xf32>' after it; remove it}}
  %y = ad.tanh %x : tensor<4xf32>, tensor<5xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @type_for_each_operand(%x: tensor<4x3xf32>, %s: tensor<3xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{expected 'tensor<3xf32>' as the last type, since operands and results that share a type have one, but got 'tensor<3xf32>' after it; remove it}}
  %y = ad.layer_norm %x, %s, %s epsilon 1.0e-5 : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>
  return %y : tensor<4x3xf32>
}
