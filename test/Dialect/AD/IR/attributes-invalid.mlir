// RUN: ad-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op expected 'ad.numerics' to be #ad.numerics<MODE>, such as #ad.numerics<strict>, but got "fast"}}
func.func @numerics_mode() attributes {ad.numerics = "fast"} {
  return
}

// -----

// expected-error @+1 {{'builtin.module' op expected 'ad.adjoint_numerics' to be #ad.numerics<MODE>, such as #ad.numerics<strict>, but got 1 : i32}}
module attributes {ad.adjoint_numerics = 1 : i32} {

}

// -----

func.func @numerics_place(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.exp' op expected 'ad.numerics' on a function or module only}}
  %y = ad.exp %x {ad.numerics = #ad.numerics<fast>} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{expected reproducible, strict or fast, but got 'exact'}}
func.func @numerics_unknown() attributes {ad.numerics = #ad.numerics<exact>} {
  return
}

// -----

// expected-error @+1 {{'func.func' op expected 'ad.name' on an argument or result of a function only}}
func.func @name_place() attributes {ad.name = "f"} {
  return
}

// -----

// expected-error @+1 {{'func.func' op expected 'ad.name' of argument 0 to be a string that is not empty, but got 1 : i32}}
func.func @name_type(%x: tensor<4xf32> {ad.name = 1 : i32}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op expected 'ad.name' of argument 0 to be a string that is not empty, but got ""}}
func.func @name_empty(%x: tensor<4xf32> {ad.name = ""}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op expected distinct names, but arguments 0 and 1 are both named "x"}}
func.func @name_twice(%x: tensor<4xf32> {ad.name = "x"}, %y: tensor<4xf32> {ad.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op expected distinct names, but results 0 and 1 are both named "x"}}
func.func @result_name_twice(%x: tensor<4xf32>) -> (tensor<4xf32> {ad.name = "x"}, tensor<4xf32> {ad.name = "x"}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected 'ad.donated' of argument 0 to be the number of the result that takes its memory, such as ad.donated = 0, but got 0 : i32}}
func.func @donated_type(%x: tensor<4xf32> {ad.donated = 0 : i32}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected 'ad.donated' of argument 0 to name one of 1 results, but got 1}}
func.func @donated_range(%x: tensor<4xf32> {ad.donated = 1 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected donated argument 1 and result 0 to have the same type, but got 'tensor<i32>' and 'tensor<4xf32>'}}
func.func @donated_types(%x: tensor<4xf32>, %n: tensor<i32> {ad.donated = 0 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected result 0 to take one buffer, but arguments 0 and 1 are both donated to it}}
func.func @donated_twice(%x: tensor<4xf32> {ad.donated = 0 : i64}, %y: tensor<4xf32> {ad.donated = 0 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected 'ad.parameter' without a value, but got true}}
func.func @parameter_value(%x: tensor<4xf32> {ad.parameter = true}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument 0 has no attribute 'ad.trainable', expected one of ad.name, ad.donated, ad.parameter, ad.scales}}
func.func @unknown_argument_attribute(%x: tensor<4xf32> {ad.trainable}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op result 0 has no attribute 'ad.donated', expected ad.name}}
func.func @unknown_result_attribute(%x: tensor<4xf32>) -> (tensor<4xf32> {ad.donated = 0 : i64}) {
  return %x : tensor<4xf32>
}

// -----

func.func @instruction_shape(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{expected the instruction m = 16, n = 8, k = 16 or k = 32, but got m = 16, n = 8, k = 8}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 8>} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

func.func @instruction_of_halves_promotes_within_a_step(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{expected promote to be 0 or a positive multiple of k = 16, but got 24}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16, promote = 24>} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

func.func @instruction_promotes_before_zero(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{expected promote to be 0 or a positive multiple of k = 16, but got -16}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16, promote = -16>} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

func.func @instruction_without_promotion(%x: tensor<16x16xf8E5M2>) -> tensor<16x16xf32> {
  // expected-error @+1 {{expected promote to be a positive multiple of k = 32, but got 0}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 32>} : (tensor<16x16xf8E5M2>, tensor<16x16xf8E5M2>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

func.func @instruction_chains_are_blocks(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{expected chain to be 0 or a positive multiple of 512, but got 256}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16, chain = 256>} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

func.func @instruction_promotes_within_chains(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{expected chain to be 0 or a positive multiple of 512 and of promote, but got 512}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16, promote = 48, chain = 512>} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

func.func @instruction_promotes_within_a_step(%x: tensor<16x16xf8E5M2>) -> tensor<16x16xf32> {
  // expected-error @+1 {{expected promote to be a positive multiple of k = 32, but got 48}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 32, promote = 48>} : (tensor<16x16xf8E5M2>, tensor<16x16xf8E5M2>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

func.func @instruction_value(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{'ad.dot' op expected 'ad.instruction' to be #ad.instruction<…>, but got unit}}
  %y = ad.dot %x, %x {ad.instruction} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

func.func @instruction_of_a_sum(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{'ad.add' op expected 'ad.instruction' on ad.dot, ad.gemm or linalg.generic only}}
  %y = ad.add %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>} : tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

// The instruction and the permission had one name.
func.func @instruction_old_name(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{'ad.dot' op has no attribute 'ad.mma'; an instruction is 'ad.instruction', and the permission mma of a linalg.generic is in 'ad.allow'}}
  %y = ad.dot %x, %x {ad.mma = #ad.instruction<m = 16, n = 8, k = 16>} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @linalg_allow_old_name(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.generic' op has no attribute 'ad.mma'; an instruction is 'ad.instruction', and the permission mma of a linalg.generic is in 'ad.allow'}}
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) attrs = {ad.mma} {
  ^bb0(%e: f32):
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @linalg_allow_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.generic' op expected 'ad.allow' to be #ad.allow<…>, but got unit}}
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) attrs = {ad.allow} {
  ^bb0(%e: f32):
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

