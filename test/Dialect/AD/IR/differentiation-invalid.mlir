// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func @value_and_grad_c1_callee(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected @nothing to be a function}}
  %l, %d = ad.value_and_grad @nothing(%w, %x) wrt [0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return
}

// -----

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func @value_and_grad_c2_count(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected 2 inputs for 'loss', but got 1}}
  %l, %d = ad.value_and_grad @loss(%w) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return
}

// -----

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func @value_and_grad_c2_type(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected input 1 to be 'tensor<4xi32>', but got 'tensor<4xf32>'}}
  %l, %d = ad.value_and_grad @loss(%w, %w) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return
}

// -----

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func @value_and_grad_c3_range(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected wrt to list arguments below 2, but got 2}}
  %l, %d = ad.value_and_grad @loss(%w, %x) wrt [2] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return
}

// -----

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func @value_and_grad_c3_twice(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected distinct arguments in wrt, but got 0 twice}}
  %l, %d, %e = ad.value_and_grad @loss(%w, %x) wrt [0, 0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func @value_and_grad_c3_integers(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected argument 1 in wrt to be a tensor of floats, but got 'tensor<4xi32>'}}
  %l, %d = ad.value_and_grad @loss(%w, %x) wrt [1] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xi32>)
  return
}

// -----

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func @value_and_grad_c4_count(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected 2 results, those of 'loss' and one per argument in wrt, but got 1}}
  %l = ad.value_and_grad @loss(%w, %x) wrt [0] : (tensor<4xf32>, tensor<4xi32>) -> tensor<f32>
  return
}

// -----

func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> tensor<f32>
func.func @value_and_grad_c4_type(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected result 1 to be 'tensor<4xf32>', but got 'tensor<4xf64>'}}
  %l, %d = ad.value_and_grad @loss(%w, %x) wrt [0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf64>)
  return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<2xf32>
func.func @value_and_grad_c5_rank(%w: tensor<4xf32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected the first result of 'f' to be a tensor of rank 0 of floats}}
  %l, %d = ad.value_and_grad @f(%w) wrt [0] : (tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  return
}

// -----

func.func private @aux(%w: tensor<4xf32>) -> (tensor<f32>, tensor<i32>)
func.func @value_and_grad_c6_aux(%w: tensor<4xf32>) {
  // expected-error @+1 {{'ad.value_and_grad' op expected has_aux, since 'aux' has 2 results}}
  %l, %i, %d = ad.value_and_grad @aux(%w) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<i32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<i32>)
func.func @vjp_c1_callee(%x: tensor<4xf32>, %dy: tensor<2xf32>) {
  // expected-error @+1 {{'ad.vjp' op expected @g to be a function}}
  %y, %dx = ad.vjp @g(%x) cotangents(%dy) wrt [0] : (tensor<4xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<i32>)
func.func @vjp_c2_count(%x: tensor<4xf32>, %dy: tensor<2xf32>) {
  // expected-error @+1 {{'ad.vjp' op expected 1 inputs for 'f', but got 2}}
  %y, %i, %dx = ad.vjp @f(%x, %x) cotangents(%dy) wrt [0] : (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<i32>)
func.func @vjp_c3_range(%x: tensor<4xf32>, %dy: tensor<2xf32>) {
  // expected-error @+1 {{'ad.vjp' op expected wrt to list arguments below 1, but got -1}}
  %y, %i, %dx = ad.vjp @f(%x) cotangents(%dy) wrt [-1] : (tensor<4xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<i32>)
func.func @vjp_c4_count(%x: tensor<4xf32>, %dy: tensor<2xf32>) {
  // expected-error @+1 {{'ad.vjp' op expected 3 results, those of 'f' and one per argument in wrt, but got 2}}
  %y, %dx = ad.vjp @f(%x) cotangents(%dy) wrt [0] : (tensor<4xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<i32>)
func.func @vjp_c5_count(%x: tensor<4xf32>, %dy: tensor<2xf32>) {
  // expected-error @+1 {{'ad.vjp' op expected 1 cotangents, one per result of 'f' that is a tensor of floats, but got 2}}
  %y, %i, %dx = ad.vjp @f(%x) cotangents(%dy, %dy) wrt [0] : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<i32>)
func.func @vjp_c5_type(%x: tensor<4xf32>, %dy: tensor<2xf32>) {
  // expected-error @+1 {{'ad.vjp' op expected cotangent 0 to be 'tensor<2xf32>', but got 'tensor<4xf32>'}}
  %y, %i, %dx = ad.vjp @f(%x) cotangents(%x) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<2xf32>, tensor<i32>, tensor<4xf32>)
  return
}
