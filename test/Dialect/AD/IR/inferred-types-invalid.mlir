// RUN: ad-opt %s --split-input-file --verify-diagnostics
//
// Every operation that infers the type of its result says so where a program writes that type.

func.func @arrow_exp(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.exp %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_gelu(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.gelu %x form tanh : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_add(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.add %x, %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_compare(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.compare lt %x, %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_select(%c: tensor<4xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_clamp(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.clamp %x, %x, %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_transpose(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.transpose %x [1, 0] : tensor<4x2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_reverse(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.reverse %x axes [0] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_concat(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.concat axis 0 %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_pad(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.pad %x, %v low [1] high [1] interior [0] : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_update(%x: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.dynamic_update_slice %x, %x[%i] : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_argmax(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.argmax %x axis 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_cumsum(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.cumsum %x axis 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_softmax(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.softmax %x axis 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_layer_norm(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.layer_norm %x, %x, %x epsilon 1.0e-5 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_rms_norm(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.rms_norm %x, %x epsilon 1.0e-5 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_barrier(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.barrier %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_stop_gradient(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.stop_gradient %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_constant() {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.constant dense<1.0> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_iota() {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.iota axis 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_feed() {
  // expected-error @+1 {{expected no '->', since the type of the result is inferred; remove it and the type after it}}
  %y = ad.feed "x" : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arrow_function_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the types of the operands alone, since the type of the result is inferred, but got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %y = ad.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @arrow_function_type_of_list(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the types of the operands alone, since the type of the result is inferred, but got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %y = ad.barrier %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}
