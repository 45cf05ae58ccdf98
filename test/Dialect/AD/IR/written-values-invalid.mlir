// RUN: ad-opt %s --split-input-file --verify-diagnostics
//
// Values, orders and names of the wrong form are reported at their location, with a text to write instead.

func.func @constant_float(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>, but got '0.5'; write dense<0.5>}}
  %c = ad.constant 0.5 : tensor<f32>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>, but got '-0.5'; write dense<-0.5>}}
  %c = ad.constant -0.5 : tensor<f32>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_integer(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>, but got '3'; write dense<3>}}
  %c = ad.constant 3 : tensor<i32>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_hexadecimal(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>, but got '0x7F800000'; write dense<0x7F800000>}}
  %c = ad.constant 0x7F800000 : tensor<f32>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_boolean(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>, but got 'true'; write dense<true>}}
  %c = ad.constant true : tensor<i1>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_without_space(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>, but got '2.0'; write dense<2.0>}}
  %c = ad.constant 2.0: tensor<f32>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_list(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>, but got a list; write dense<[...]>}}
  %c = ad.constant [1.0, 2.0] : tensor<2xf32>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_string(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>}}
  %c = ad.constant "zero" : tensor<f32>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_sparse(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dense<...> or dense_resource<...>, but got #ad.order<block = 3>}}
  %c = ad.constant #ad.order<block = 3>
  %y = ad.mul %x, %c : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}

// -----

func.func @order_lane(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'lanes = N, chunk = N', 'block = N', or levels of 'step', 'chain', 'interleaved', 'halving' or 'pairwise', but got 'lane'}}
  %y = ad.reduce_sum %x axes [0] {order = #ad.order<lane = 3, chunk = 12>} : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @order_blocks(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'lanes = N, chunk = N', 'block = N', or levels of 'step', 'chain', 'interleaved', 'halving' or 'pairwise', but got 'blocks'}}
  %y = ad.reduce_sum %x axes [0] {order = #ad.order<blocks = 3>} : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @order_number(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'lanes = N, chunk = N', 'block = N', or levels of 'step', 'chain', 'interleaved', 'halving' or 'pairwise'}}
  %y = ad.reduce_sum %x axes [0] {order = #ad.order<3>} : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @order_string(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'lanes = N, chunk = N', 'block = N', or levels of 'step', 'chain', 'interleaved', 'halving' or 'pairwise', but got 'lanes'}}
  %y = ad.reduce_sum %x axes [0] {order = #ad.order<"lanes" = 3>} : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @compare_predicate(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected eq, ne, lt, le, gt or ge, but got 'less'}}
  %y = ad.compare less %x, %x : tensor<4xf32>
  return
}

// -----

func.func @compare_no_predicate(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected eq, ne, lt, le, gt or ge}}
  %y = ad.compare %x, %x : tensor<4xf32>
  return
}

// -----

func.func @gelu_form(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected none or tanh, but got 'fast'}}
  %y = ad.gelu %x form fast : tensor<4xf32>
  return
}

// -----

func.func private @nothing(%x: tensor<4xf32>)
func.func @gradient_of_nothing(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'nothing' to have a result, the value to differentiate}}
  %g = ad.value_and_grad @nothing(%x) wrt [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @vector(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @gradient_of_vector(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the first result of 'vector' to be a tensor of rank 0 of floats, but got 'tensor<4xf32>'; reduce it, for example with ad.reduce_sum}}
  %y, %g = ad.value_and_grad @vector(%x) wrt [0] : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
