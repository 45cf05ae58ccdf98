// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @constant_c1_vector() {
  // expected-error @+2 {{'ad.constant' op expected elements of a ranked tensor}}
  // expected-error @+1 {{'ad.constant' op failed to infer returned types}}
  %a = "ad.constant"() {value = dense<1.0> : vector<4xf32>} : () -> tensor<4xf32>
  return
}

// -----

func.func @constant_c1_result() {
  // expected-error @+2 {{'ad.constant' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error @+1 {{'ad.constant' op failed to infer returned types}}
  %a = "ad.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<5xf32>
  return
}

// -----

func.func @constant_element() {
  // expected-error @+1 {{'ad.constant' op result #0 must be tensor of floats, i1, i8, i32 or i64, but got 'tensor<4xi16>'}}
  %a = ad.constant dense<1> : tensor<4xi16>
  return
}

// -----

func.func @constant_c2_sparse() {
  // expected-error @+1 {{'ad.constant' op expected dense or dense_resource elements}}
  %a = ad.constant sparse<[[0]], [1.0]> : tensor<4xf32>
  return
}

// -----

func.func @constant_c2_no_resource() {
  // expected-error @+1 {{'ad.constant' op expected a resource named 'missing', but there is none}}
  %a = ad.constant dense_resource<missing> : tensor<4xf32>
  return
}

// -----

func.func @full_c1_element(%x: f64) {
  // expected-error @+1 {{'ad.full' op expected a scalar of type 'f32', but got 'f64'}}
  %a = ad.full %x : f64 -> tensor<4xf32>
  return
}

// -----

func.func @full_c2_sizes(%x: f32, %n: index) {
  // expected-error @+1 {{'ad.full' op expected one size per dynamic dimension of 'tensor<?x?xf32>', that is 2, but got 1}}
  %a = ad.full %x(%n) : f32 -> tensor<?x?xf32>
  return
}

// -----

func.func @iota_c1_axis() {
  // expected-error @+1 {{'ad.iota' op expected an axis of 'tensor<4xi32>', of rank 1, but got 1}}
  %a = ad.iota axis 1 : tensor<4xi32>
  return
}

// -----

func.func @iota_c1_rank_0() {
  // expected-error @+1 {{'ad.iota' op expected an axis of 'tensor<i32>', of rank 0, but got 0}}
  %a = ad.iota axis 0 : tensor<i32>
  return
}

// -----

func.func @iota_c1_negative() {
  // expected-error @+1 {{'ad.iota' op expected an axis of 'tensor<4xi32>', of rank 1, but got -1}}
  %a = ad.iota axis -1 : tensor<4xi32>
  return
}

// -----

func.func @iota_c2_sizes(%n: index) {
  // expected-error @+1 {{'ad.iota' op expected one size per dynamic dimension of 'tensor<4xi32>', that is 0, but got 1}}
  %a = ad.iota axis 0 (%n) : tensor<4xi32>
  return
}

// -----

func.func @iota_element() {
  // expected-error @+1 {{'ad.iota' op result #0 must be tensor of floats, i8, i32 or i64, but got 'tensor<4xi1>'}}
  %a = ad.iota axis 0 : tensor<4xi1>
  return
}

// -----

func.func @constant_c2_resource_size() {
  // expected-error @+1 {{'ad.constant' op expected resource 'short' to hold 16 bytes, but got 8}}
  %a = ad.constant dense_resource<short> : tensor<4xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F00000040"
    }
  }
#-}
