// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @no_name(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 'ad.fuse_group' to be a name, but got ""}}
  %y = ad.exp %x {ad.fuse_group = ""} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @number(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 'ad.fuse_group' to be a name, but got 3}}
  %y = ad.exp %x {ad.fuse_group = 3} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @value(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 'ad.no_fuse' without a value, but got true}}
  %y = ad.exp %x {ad.no_fuse = true} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 'ad.fuse_group' or 'ad.no_fuse', not both}}
  %y = ad.exp %x {ad.fuse_group = "a", ad.no_fuse} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected 'ad.no_fuse' on an operation that computes tensors by itself}}
func.func @function() attributes {ad.no_fuse} {
  return
}

// -----

func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 'ad.fuse_group' on an operation that computes tensors by itself}}
  %y = call @callee(%x) {ad.fuse_group = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{expected 'ad.no_fuse' on an operation that computes tensors by itself}}
  %y = scf.for %i = %zero to %n step %one iter_args(%c = %x) -> tensor<4xf32> {
    scf.yield %c : tensor<4xf32>
  } {ad.no_fuse}
  return %y : tensor<4xf32>
}

// -----

func.func @constant() -> tensor<4xf32> {
  // expected-error@+1 {{expected no 'ad.fuse_group' on an operation that has no kernel}}
  %y = ad.constant {ad.fuse_group = "a"} dense<1.0> : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @empty() -> tensor<4xf32> {
  // expected-error@+1 {{expected no 'ad.no_fuse' on an operation that has no kernel}}
  %y = tensor.empty() {ad.no_fuse} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @feed() -> tensor<4xf32> {
  // expected-error@+1 {{expected no 'ad.no_fuse' on an operation that has no kernel}}
  %y = ad.feed "y" {ad.no_fuse} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @fusion(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected no 'ad.no_fuse' in 'ad.fusion', which is one kernel by itself}}
  %y = ad.fusion elementwise (%a = %x) {ad.no_fuse} : (tensor<4xf32>) -> tensor<4xf32> {
    %e = ad.exp %a : tensor<4xf32>
    ad.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @part(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{expected no 'ad.fuse_group' in 'ad.fusion', which is one kernel by itself}}
    %e = ad.exp %a {ad.fuse_group = "a"} : tensor<4xf32>
    ad.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
