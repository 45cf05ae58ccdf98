// RUN: ad-opt %s --ad-verify-numerics --split-input-file --verify-diagnostics

func.func @permissions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.exp' op has no permissions; run --ad-to-cpu-frontend first, or --ad-set-numerics alone}}
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @order(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.reduce_sum' op has no summation order; run --ad-to-cpu-frontend first, or --ad-set-numerics alone}}
  %y = ad.reduce_sum %x axes [1] {allow = #ad.allow<none>} : tensor<4x3xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @broadcast(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{'ad.add' op broadcasts 'tensor<3xf32>' to 'tensor<4x3xf32>' implicitly; run --ad-to-cpu-frontend first, or --ad-set-numerics alone}}
  %y = ad.add %x, %b {allow = #ad.allow<none>} : tensor<4x3xf32>, tensor<3xf32>
  return %y : tensor<4x3xf32>
}

// -----

func.func @broadcast_at_run_time(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'ad.add' op has operands whose sizes may differ at run time; run --ad-to-cpu-frontend first, or --ad-set-numerics alone}}
  %z = ad.add %x, %y {allow = #ad.allow<none>} : tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

func.func @instruction_without_mma(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  // expected-error @+1 {{'ad.dot' op has ad.instruction, but lacks the permission mma; give it, or leave the choice to --ad-choose-instructions}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>, allow = #ad.allow<reorder>, order = #ad.order<block = 512>}
      : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// -----

func.func @instruction_of_bytes(%x: tensor<16x16xf8E5M2>) -> tensor<16x16xf32> {
  // expected-error @+1 {{'ad.dot' op has ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>, expected #ad.instruction<m = 16, n = 8, k = 32, promote = 128>, or another promote or chain, for 8-bit floats; or leave the choice to --ad-choose-instructions}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>, allow = #ad.allow<mma>, order = #ad.order<block = 512>}
      : (tensor<16x16xf8E5M2>, tensor<16x16xf8E5M2>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

func.func @instruction_of_halves(%x: tensor<16x16xf16>) -> tensor<16x16xf32> {
  // expected-error @+1 {{'ad.dot' op has ad.instruction = #ad.instruction<m = 16, n = 8, k = 32, promote = 64>, expected #ad.instruction<m = 16, n = 8, k = 16>, or one with promote or chain, for these operands; or leave the choice to --ad-choose-instructions}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 32, promote = 64>, allow = #ad.allow<mma>, order = #ad.order<block = 512>}
      : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

func.func @instruction_and_order(%x: tensor<16x16xf16>) -> tensor<16x16xf32> {
  // expected-error @+1 {{'ad.dot' op has ad.instruction, but tensor cores cannot compute it: the program writes the order of its sum; remove ad.instruction}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>, allow = #ad.allow<mma>, order = #ad.order<block = 8>}
      : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

func.func @instruction_of_integers(%x: tensor<16x16xi8>) -> tensor<16x16xi32> {
  // expected-error @+1 {{'ad.dot' op has ad.instruction, but tensor cores cannot compute it: its operands are no floats; remove ad.instruction}}
  %y = ad.dot %x, %x {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>, allow = #ad.allow<mma>, order = #ad.order<block = 512>}
      : (tensor<16x16xi8>, tensor<16x16xi8>) -> tensor<16x16xi32>
  return %y : tensor<16x16xi32>
}

// -----

func.func @instruction_of_vector(%x: tensor<16xf16>, %y: tensor<16x16xf16>) -> tensor<16xf32> {
  // expected-error @+1 {{'ad.dot' op has ad.instruction, but tensor cores cannot compute it: an operand has no free axis; remove ad.instruction}}
  %z = ad.dot %x, %y {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>, allow = #ad.allow<mma>, order = #ad.order<block = 512>}
      : (tensor<16xf16>, tensor<16x16xf16>) -> tensor<16xf32>
  return %z : tensor<16xf32>
}
