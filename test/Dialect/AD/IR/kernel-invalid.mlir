// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @fusion_unknown_kind(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected elementwise, dot, reduce or movement, but got 'gather'}}
  %y = ad.fusion gather (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    ad.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @fusion_wrong_operand_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{number of operands and types do not match: got 1 operands and 2 types}}
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ad.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @fusion_c1_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.fusion' op expected region arguments of types 'tensor<4xf32>', but got 'tensor<3xf32>'}}
  %y = "ad.fusion"(%x) <{kind = #ad<fusion_kind elementwise>}> ({
  ^bb0(%a: tensor<3xf32>):
    ad.yield %a : tensor<3xf32>
  }) : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @fusion_c2_terminator(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.fusion' op expected a region that ends with ad.yield}}
  %y = "ad.fusion"(%x) <{kind = #ad<fusion_kind elementwise>}> ({
  ^bb0(%a: tensor<4xf32>):
    ub.unreachable
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fusion_c3_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.fusion' op expected results of types 'tensor<4xf32>', as ad.yield has, but got 'tensor<4xf64>'}}
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf64> {
    ad.yield %a : tensor<4xf32>
  }
  return
}

// -----

// expected-error @+1 {{entry block argument #0('f64') must match the type of the corresponding argument in function signature('f32')}}
"ad.kernel"() <{function_type = (f32) -> f64, kernel_class = "generic", sym_name = "kernel_c1_arguments"}> ({
^bb0(%a: f64):
  ad.yield %a : f64
}) : () -> ()

// -----

// expected-error @+1 {{'ad.kernel' op expected a body that ends with ad.yield}}
ad.kernel @kernel_c2_terminator() attributes {kernel_class = "generic"} {
  ub.unreachable
}

// -----

// expected-error @+1 {{'ad.kernel' op expected results of types 'f32', as ad.yield has, but got 'f64'}}
ad.kernel @kernel_c3_results(%a: f32) -> f64 attributes {kernel_class = "generic"} {
  ad.yield %a : f32
}

// -----

func.func @launch_c1_kernel(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.launch' op expected @missing to be an ad.kernel}}
  %y = ad.launch @missing(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  ad.yield %a : tensor<4xf32>
}
func.func @launch_c2_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.launch' op expected 1 inputs, as @k has, but got 2}}
  %y = ad.launch @k(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  ad.yield %a : tensor<4xf32>
}
func.func @launch_c2_type(%x: memref<3xf32>) {
  // expected-error @+1 {{'ad.launch' op expected input 0 of type 'tensor<4xf32>', as @k has, but got 'memref<3xf32>'}}
  %y = ad.launch @k(%x) : (memref<3xf32>) -> tensor<4xf32>
  return
}

// -----

ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  ad.yield %a : tensor<4xf32>
}
func.func @launch_c3_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.launch' op expected result 0 of type 'tensor<4xf32>', as @k has, but got 'tensor<5xf32>'}}
  %y = ad.launch @k(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  ad.yield %a : tensor<4xf32>
}
func.func @launch_c3_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.launch' op expected 1 results, as @k has, but got 0}}
  ad.launch @k(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  ad.yield %a : tensor<4xf32>
}
func.func @launch_c4_count(%x: tensor<4xf32>) {
  %b = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op expected one destination for each of 1 results, but got 2}}
  %y = ad.launch @k(%x) into(%b, %b) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @launch_c5_sizes(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'ad.launch' op expected one size for each of 0 dynamic dimensions, but got 1}}
  %y = ad.launch @k(%x) sizes(%n) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @launch_c6_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.launch' op expected one tied input, or -1, for each of 1 results, but got 2}}
  %y = ad.launch @k(%x) {tied = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @launch_c6_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.launch' op expected tied inputs below 1, or -1, but got 1}}
  %y = ad.launch @k(%x) {tied = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @elementary_c1_unary(%x: f32) {
  // expected-error @+1 {{'ad.elementary' op expected 1 operand of exp, but got 2}}
  %y = ad.elementary exp %x, %x : f32
  return
}

// -----

func.func @elementary_c2_function(%x: f32) {
  // expected-error @+1 {{'ad.elementary' op expected tanh, erf, sigmoid, silu, gelu or gelu_tanh of f32 to be approximate}}
  %y = ad.elementary approximate exp %x : f32
  return
}

// -----

func.func @elementary_c2_type(%x: vector<4xf64>) {
  // expected-error @+1 {{'ad.elementary' op expected tanh, erf, sigmoid, silu, gelu or gelu_tanh of f32 to be approximate}}
  %y = ad.elementary approximate tanh %x : vector<4xf64>
  return
}

// -----

func.func @elementary_c1_binary(%x: f32) {
  // expected-error @+1 {{'ad.elementary' op expected 2 operands of pow, but got 1}}
  %y = ad.elementary pow %x : f32
  return
}

// -----

func.func @convert_c1_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.convert' op expected element types of tensors, or vectors of them, but got 'tensor<4xf32>'}}
  %y = ad.convert %x : tensor<4xf32> to f32
  return
}

// -----

func.func @convert_c1_element(%x: f32) {
  // expected-error @+1 {{'ad.convert' op expected element types of tensors, or vectors of them, but got 'i16'}}
  %y = ad.convert %x : f32 to i16
  return
}

// -----

func.func @convert_c2_shape(%x: vector<4xf32>) {
  // expected-error @+1 {{'ad.convert' op expected scalars or vectors of one shape, but got 'vector<4xf32>' and 'vector<5xf16>'}}
  %y = ad.convert %x : vector<4xf32> to vector<5xf16>
  return
}

// -----

func.func @yield_c1_parent(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.yield' op expects parent op to be one of 'ad.fusion, ad.kernel'}}
  "ad.yield"(%x) : (tensor<4xf32>) -> ()
}

// -----

func.func @require_i2_condition(%x: i32) {
  // expected-error @+1 {{'ad.require' op operand #0 must be 1-bit signless integer, but got 'i32'}}
  "ad.require"(%x) <{kind = 1 : i32, requiredBy = "ad.dot"}> : (i32) -> ()
  return
}

// -----

func.func @guard_i1_status(%x: i64) {
  // expected-error @+1 {{'ad.guard' op operand #0 must be 32-bit signless integer, but got 'i64'}}
  "ad.guard"(%x) : (i64) -> ()
  return
}
