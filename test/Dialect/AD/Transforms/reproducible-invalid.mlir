// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Permissions inside a reproducible module or function break its promise, on every nesting, and are refused at their location.
// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-set-numerics

module attributes {ad.numerics = #ad.numerics<reproducible>} {
  func.func @operations(%x: tensor<8xf32>, %w: tensor<8x4xbf16>, %v: tensor<4x8xbf16>) -> tensor<f32> {
    // expected-error @+1 {{'ad.tanh' op expected no permissions in a reproducible module, which promises the same bits everywhere, but got allow = #ad.allow<approx>; remove it, or make the contract strict or fast}}
    %a = ad.tanh %x {allow = #ad.allow<approx>} : tensor<8xf32>
    // expected-error @+1 {{'ad.dot' op expected no permissions in a reproducible module, which promises the same bits everywhere, but got allow = #ad.allow<mma>;}}
    %b = ad.dot %w, %v {allow = #ad.allow<mma>} : (tensor<8x4xbf16>, tensor<4x8xbf16>) -> tensor<8x8xf32>
    %c = ad.exp %a {allow = #ad.allow<none>} : tensor<8xf32>
    // expected-error @+1 {{'ad.reduce_sum' op expected no permissions in a reproducible module, which promises the same bits everywhere, but got allow = #ad.allow<reorder|approx>;}}
    %d = ad.reduce_sum %c axes [0] {allow = #ad.allow<reorder|approx>} : tensor<8xf32> -> tensor<f32>
    return %d : tensor<f32>
  }
}

// -----

module attributes {ad.numerics = #ad.numerics<reproducible>} {
  func.func @in_a_region(%n: index, %x: tensor<8xf32>) -> tensor<8xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %y = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<8xf32>) {
      // expected-error @+1 {{'ad.exp' op expected no permissions in a reproducible module}}
      %b = ad.exp %a {allow = #ad.allow<contract>} : tensor<8xf32>
      scf.yield %b : tensor<8xf32>
    }
    return %y : tensor<8xf32>
  }
}

// -----

module attributes {ad.numerics = #ad.numerics<reproducible>} {
  // expected-error @+1 {{'func.func' op expected no permissions in a reproducible module, which promises the same bits everywhere, but got ad.numerics = #ad.numerics<fast>; remove it, or make the contract of the module strict or fast}}
  func.func private @fast() attributes {ad.numerics = #ad.numerics<fast>} {
    return
  }
  // expected-error @+1 {{but got ad.numerics = #ad.numerics<strict>;}}
  func.func private @strict() attributes {ad.numerics = #ad.numerics<strict>} {
    return
  }
  // expected-error @+1 {{expected no permissions in a reproducible module, which promises the same bits everywhere, but got ad.adjoint_numerics = #ad.numerics<fast>;}}
  func.func private @adjoint() attributes {ad.adjoint_numerics = #ad.numerics<fast>} {
    return
  }
  func.func private @same() attributes {ad.numerics = #ad.numerics<reproducible>, ad.adjoint_numerics = #ad.numerics<reproducible>} {
    return
  }
}

// -----

// expected-error @+1 {{'builtin.module' op expected no permissions after reproducible, which promises the same bits everywhere, but got ad.adjoint_numerics = #ad.numerics<strict>;}}
module attributes {ad.numerics = #ad.numerics<reproducible>, ad.adjoint_numerics = #ad.numerics<strict>} {
}

// -----

module attributes {ad.numerics = #ad.numerics<reproducible>} {
  // expected-error @+1 {{'builtin.module' op expected no permissions in a reproducible module}}
  module attributes {ad.numerics = #ad.numerics<fast>} {
  }
}

// -----

// expected-error @+1 {{'func.func' op expected no permissions after reproducible, which promises the same bits everywhere, but got ad.adjoint_numerics = #ad.numerics<fast>; remove it, or make the contract of the function strict or fast}}
func.func @sibling(%x: tensor<8xf32>) attributes {ad.numerics = #ad.numerics<reproducible>, ad.adjoint_numerics = #ad.numerics<fast>} {
  // expected-error @+1 {{'ad.tanh' op expected no permissions in the reproducible function @sibling, which}}
  %y = ad.tanh %x {allow = #ad.allow<approx>} : tensor<8xf32>
  return
}

// -----

// A function refined to reproducible, in a module that is not, has the bits of the functions that it calls.
// expected-note @+1 {{@helper has permissions}}
func.func private @helper(%x: tensor<f32>) -> tensor<f32> {
  %y = ad.tanh %x : tensor<f32>
  return %y : tensor<f32>
}
func.func private @exact(%x: tensor<f32>) -> tensor<f32> attributes {ad.numerics = #ad.numerics<reproducible>} {
  return %x : tensor<f32>
}
func.func @main(%x: tensor<f32>) attributes {ad.numerics = #ad.numerics<reproducible>} {
  // expected-error @+1 {{'func.call' op expected calls of reproducible functions only in the reproducible function @main, but got @helper; give it ad.numerics = #ad.numerics<reproducible>}}
  %a = func.call @helper(%x) : (tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{'ad.value_and_grad' op expected calls of reproducible functions only}}
  %b:2 = ad.value_and_grad @helper(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // expected-error @+1 {{'ad.vjp' op expected calls of reproducible functions only}}
  %c:2 = ad.vjp @helper(%x) cotangents(%x) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %d:2 = ad.value_and_grad @exact(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}
func.func @strict(%x: tensor<f32>) -> tensor<f32> {
  %a = func.call @helper(%x) : (tensor<f32>) -> tensor<f32>
  return %a : tensor<f32>
}

// -----

module attributes {ad.numerics = #ad.numerics<reproducible>} {
  // expected-error @+1 {{'ad.kernel' op expected no permissions in a reproducible module}}
  ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise", allow = #ad.allow<contract>} {
    ad.yield %a : tensor<4xf32>
  }
  ad.kernel @exact(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
    ad.yield %a : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>) {
    %y = ad.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = ad.launch @exact(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

// expected-note @+1 {{@k has permissions}}
ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise", allow = #ad.allow<contract>} {
  ad.yield %a : tensor<4xf32>
}
ad.kernel @exact(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  ad.yield %a : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) attributes {ad.numerics = #ad.numerics<reproducible>} {
  // expected-error @+1 {{'ad.launch' op expected calls of reproducible functions only in the reproducible function @main, but got @k; remove 'allow' there}}
  %y = ad.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = ad.launch @exact(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
