// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-verify-memory-plan --split-input-file --verify-diagnostics
//
// One seeded fault in each plan. plan_memory_test.py moves buffers at random.

// expected-error @+1 {{'func.func' op has no valid memory plan; run --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels first, or for a GPU --ad-to-cpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels}}
func.func @beyond_the_pool() attributes {ad.arena_bytes = 8 : i64, ad.buffers = array<i64: 0, 0, 0, 16>} {
  return
}

// -----

func.func @too_small() attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 0, 0, 0, 8>} {
  // expected-error @+1 {{'ad.feed' op memory plan is wrong: a buffer is smaller than its tensor}}
  %a = ad.feed "a" {ad.buffer = array<i64: 0>} : tensor<4xf32>
  return
}

// -----

// Both are live, and overlap in part.
func.func @overlap() attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 0, 0, 0, 16, 0, 0, 8, 16>} {
  %a = ad.feed "a" {ad.buffer = array<i64: 0>} : tensor<4xf32>
  %b = ad.feed "b" {ad.buffer = array<i64: 1>} : tensor<4xf32>
  // expected-error @+1 {{'ad.receive' op memory plan is wrong: an operand was overwritten before it is read here}}
  ad.receive "ab"(%a, %b) : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// The next turn reads %a again, by another name.
func.func @next_turn(%n: index) attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 0, 0, 0, 16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = ad.feed "a" {ad.buffer = array<i64: 0>} : tensor<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %again = ad.reshape %a : tensor<4xf32> -> tensor<2x2xf32>
    // expected-error @+1 {{'ad.receive' op memory plan is wrong: an operand is overwritten before the next turn of the loop reads it}}
    ad.receive "a"(%again) : tensor<2x2xf32>
    %b = ad.feed "b" {ad.buffer = array<i64: 0>} : tensor<4xf32>
    ad.receive "b"(%b) : tensor<4xf32>
  }
  return
}

// -----

// Carries that change places need a temporary.
func.func @swapped(%n: index) attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 0, 0, 0, 16, 0, 0, 16, 16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = ad.constant dense<0.0> : tensor<4xf32>
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a, %v = %a) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-error @+1 {{'scf.yield' op memory plan is wrong: a yielded tensor is overwritten before it reaches its place}}
    scf.yield %v, %u : tensor<4xf32>, tensor<4xf32>
  } {ad.buffer = array<i64: 0, 1>, ad.swap = array<i64: -1, -1>}
  return
}

// -----

// What one side of a branch writes is lost behind it.
func.func @branch(%c: i1) attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 0, 0, 0, 16>} {
  %a = ad.feed "a" {ad.buffer = array<i64: 0>} : tensor<4xf32>
  scf.if %c {
    %b = ad.feed "b" {ad.buffer = array<i64: 0>} : tensor<4xf32>
    ad.receive "b"(%b) : tensor<4xf32>
  }
  // expected-error @+1 {{'ad.receive' op memory plan is wrong: an operand was overwritten before it is read here}}
  ad.receive "a"(%a) : tensor<4xf32>
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
func.func @transposed() attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 0, 0, 0, 64>} {
  %a = ad.feed "a" {ad.buffer = array<i64: 0>} : tensor<4x4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %b = ad.launch @transpose(%a) {ad.buffer = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.receive "b"(%b) : tensor<4x4xf32>
  return
}
ad.kernel private @transpose(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = #ad<kernel_class generic>} {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.generic {indexing_maps = [#transposed, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x4xf32>
  ad.yield %t : tensor<4x4xf32>
}

// -----

func.func @two_results(%x: tensor<4xf32>) attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 0, 0, 0, 16>} {
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: two results of a kernel overlap}}
  %a, %b = ad.launch @both(%x) {ad.buffer = array<i64: 0, 0>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
ad.kernel private @both(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {kernel_class = #ad<kernel_class elementwise>} {
  ad.yield %a, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op memory plan is wrong: argument 0 is written, but not donated}}
func.func @not_donated(%x: tensor<4xf32>) attributes {ad.arena_bytes = 0 : i64, ad.buffers = array<i64: 1, 0, 0, 16>} {
  return
}

// -----

func.func @wrong_result() -> tensor<4xf32> attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 2, 0, 0, 16, 0, 0, 0, 16>} {
  %a = ad.feed "a" {ad.buffer = array<i64: 0>} : tensor<4xf32>
  %b = ad.feed "b" {ad.buffer = array<i64: 1>} : tensor<4xf32>
  // expected-error @+1 {{'func.return' op memory plan is wrong: result 0 has the place of another value}}
  return %b : tensor<4xf32>
}

// -----

// Two sizes that have nothing to do with each other share a pool.
func.func @other_size(%n: index, %m: index) attributes {ad.arena_bytes = 0 : i64, ad.pool_bytes = array<i64: 8>, ad.buffers = array<i64: 0, 1, 0, 4, 0, 1, 4, 4>} {
  %a = ad.feed "a"(%n) {ad.buffer = array<i64: 0>} : tensor<?xf32>
  // expected-error @+1 {{'ad.feed' op memory plan is wrong: sizes in one place may differ by more than a factor}}
  %b = ad.feed "b"(%m) {ad.buffer = array<i64: 1>} : tensor<?xf32>
  return
}
