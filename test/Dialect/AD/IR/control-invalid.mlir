// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @barrier_c1_nothing() {
  // expected-error @+1 {{'ad.barrier' op expected at least one operand}}
  "ad.barrier"() : () -> ()
  return
}

// -----

func.func @barrier_c2_type(%x: tensor<4xf32>) {
  // expected-error @+2 {{'ad.barrier' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<?xf32>'}}
  // expected-error @+1 {{'ad.barrier' op failed to infer returned types}}
  %y = "ad.barrier"(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @feed_c1_name() {
  // expected-error @+1 {{'ad.feed' op expected the name of a stream, but got an empty string}}
  %x = ad.feed "" : tensor<4xf32>
  return
}

// -----

func.func @feed_c2_sizes() {
  // expected-error @+1 {{'ad.feed' op expected one size per dynamic dimension of 'tensor<?xf32>', that is 1, but got 0}}
  %x = ad.feed "x" : tensor<?xf32>
  return
}

// -----

func.func @receive_c1_name(%x: tensor<f32>) {
  // expected-error @+1 {{'ad.receive' op expected the name of a receiver, but got an empty string}}
  ad.receive ""(%x) : tensor<f32>
  return
}

// -----

func.func @receive_c2_nothing() {
  // expected-error @+1 {{'ad.receive' op expected at least one operand}}
  "ad.receive"() {name = "x"} : () -> ()
  return
}
