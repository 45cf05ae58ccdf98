// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-verify-memory-plan --split-input-file --verify-diagnostics
//
// One seeded fault in each plan. plan_memory_test.py moves buffers at random.

func.func @no_buffer() {
  // expected-error @+1 {{'ad.feed' op has no buffer in the memory plan; run --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels first, or for a GPU --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels}}
  %a = ad.feed "a" : tensor<4xf32>
  return
}

// -----

func.func @carry_without_buffer(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op has no buffer in the memory plan; run }}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    scf.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @carry_in_two_buffers(%n: index) {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<4xf32> {
    %b = ad.feed "b" into(%b1) : tensor<4xf32>
    // expected-error @+1 {{'scf.yield' op memory plan is wrong: expected operand 0 in the buffer of what it is yielded to, by an ad.copy before this operation}}
    scf.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @branches_in_two_buffers(%c: i1) {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 16>
  %r = scf.if %c -> tensor<4xf32> {
    %a = ad.feed "a" into(%b0) : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %b = ad.feed "b" into(%b1) : tensor<4xf32>
    // expected-error @+1 {{'scf.yield' op memory plan is wrong: expected operand 0 in the buffer of what it is yielded to}}
    scf.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @copy_elsewhere(%x: tensor<4xf32>) {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.copy' op expected the loop or the terminator that reads the copy to follow it}}
  %a = ad.copy %x into(%b0) : tensor<4xf32>
  ad.receive "a"(%a) : tensor<4xf32>
  return
}

// -----

func.func @copied_early(%x: tensor<4xf32>, %n: index) {
  %b0 = ad.buffer <arena, bytes = 16>
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'ad.copy' op expected copies right before the operation that reads them, each for one operand, in the order of these and temporary copies first}}
  %a = ad.copy %x into(%b0) : tensor<4xf32>
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<4xf32> {
    scf.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @order_of_copies(%x: tensor<4xf32>, %n: index) {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'ad.copy' op expected copies right before the operation that reads them}}
  %a = ad.copy %x into(%b0) : tensor<4xf32>
  %b = ad.copy %x into(%b1) : tensor<4xf32>
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%u = %b, %v = %a) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %u, %v : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @chosen(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'arith.select' op has no buffer in the memory plan; run }}
  %a = arith.select %c, %x, %y : tensor<4xf32>
  ad.receive "a"(%a) : tensor<4xf32>
  return
}

// -----

// The copy would read one half of what it writes.
func.func @chosen_overlaps(%c: i1, %x: tensor<32xf32>) {
  %b0 = ad.buffer <arena, bytes = 128>
  %b1 = ad.buffer <arena, offset = 64, bytes = 128>
  %y = ad.feed "y" into(%b0) : tensor<32xf32>
  %s = arith.select %c, %x, %y : tensor<32xf32>
  // expected-error @+1 {{'ad.copy' op memory plan is wrong: a copy overlaps its source}}
  %a = ad.copy %s into(%b1) : tensor<32xf32>
  ad.receive "a"(%a) : tensor<32xf32>
  return
}

// -----

func.func @too_small() {
  %b0 = ad.buffer <arena, bytes = 8>
  // expected-error @+1 {{'ad.feed' op memory plan is wrong: a buffer is smaller than its tensor}}
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  return
}

// -----

// Both are live, and overlap in part.
func.func @overlap() {
  %b0 = ad.buffer <arena, bytes = 128>
  %b1 = ad.buffer <arena, offset = 64, bytes = 128>
  // expected-note @+1 {{the operand is computed here}}
  %a = ad.feed "a" into(%b0) : tensor<32xf32>
  // expected-note @+1 {{this is written over it}}
  %b = ad.feed "b" into(%b1) : tensor<32xf32>
  // expected-error @+1 {{'ad.receive' op memory plan is wrong: an operand was overwritten before it is read here}}
  ad.receive "ab"(%a, %b) : tensor<32xf32>, tensor<32xf32>
  return
}

// -----

// The next iteration reads %a again, by another name.
func.func @next_iteration(%n: index) {
  %b0 = ad.buffer <arena, bytes = 16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the operand is computed here}}
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %again = ad.reshape %a : tensor<4xf32> -> tensor<2x2xf32>
    // expected-error @+1 {{'ad.receive' op memory plan is wrong: an operand is overwritten before the next iteration of the loop reads it}}
    ad.receive "a"(%again) : tensor<2x2xf32>
    // expected-note @+1 {{this is written over it}}
    %b = ad.feed "b" into(%b0) : tensor<4xf32>
    ad.receive "b"(%b) : tensor<4xf32>
  }
  return
}

// -----

// Carries that are swapped need a temporary copy.
func.func @swapped(%n: index) {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = ad.constant dense<0.0> : tensor<4xf32>
  %first = ad.copy %a into(%b0) : tensor<4xf32>
  %second = ad.copy %a into(%b1) : tensor<4xf32>
  // expected-note @+1 {{the operand is computed here}}
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%u = %first, %v = %second) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-note @+1 {{this is written over it}}
    %w = ad.copy %v into(%b0) : tensor<4xf32>
    // expected-error @+1 {{'ad.copy' op memory plan is wrong: an operand was overwritten before it is read here}}
    %z = ad.copy %u into(%b1) : tensor<4xf32>
    scf.yield %w, %z : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// What one side of a branch writes over is lost after the branch.
func.func @branch(%c: i1) {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-note @+1 {{the operand is computed here}}
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  scf.if %c {
    // expected-note @+1 {{this is written over it}}
    %b = ad.feed "b" into(%b0) : tensor<4xf32>
    ad.receive "b"(%b) : tensor<4xf32>
  }
  // expected-error @+1 {{'ad.receive' op memory plan is wrong: an operand was overwritten before it is read here}}
  ad.receive "a"(%a) : tensor<4xf32>
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
func.func @transposed() {
  %b0 = ad.buffer <arena, bytes = 64>
  %a = ad.feed "a" into(%b0) : tensor<4x4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %b = ad.launch @transpose(%a) into(%b0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.receive "b"(%b) : tensor<4x4xf32>
  return
}
ad.kernel private @transpose(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.generic {indexing_maps = [#transposed, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x4xf32>
  ad.yield %t : tensor<4x4xf32>
}

// -----

func.func @two_results(%x: tensor<4xf32>) {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: two results of a kernel overlap}}
  %a, %b = ad.launch @both(%x) into(%b0, %b0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
ad.kernel private @both(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {kernel_class = "elementwise"} {
  ad.yield %a, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op memory plan is wrong: argument 0 is written, but not donated}}
func.func @not_donated(%x: tensor<4xf32>) {
  %b0 = ad.buffer <argument, bytes = 16>
  return
}

// -----

func.func @wrong_result() -> tensor<4xf32> {
  %b0 = ad.buffer <result, bytes = 16>
  %b1 = ad.buffer <arena, bytes = 16>
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  %b = ad.feed "b" into(%b1) : tensor<4xf32>
  // expected-error @+1 {{'func.return' op memory plan is wrong: the memory of result 0 holds another value}}
  return %b : tensor<4xf32>
}

// -----

// Tensors of unrelated sizes in one pool.
func.func @other_size(%n: index, %m: index) {
  %b0 = ad.buffer <pool, number = 1, bytes = 4>
  %b1 = ad.buffer <pool, number = 1, offset = 4, bytes = 4>
  %a = ad.feed "a"(%n) into(%b0) : tensor<?xf32>
  // expected-error @+1 {{'ad.feed' op memory plan is wrong: the dynamic sizes of tensors in one memory may differ by more than a constant factor}}
  %b = ad.feed "b"(%m) into(%b1) : tensor<?xf32>
  return
}

// -----

func.func @unaligned() {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.buffer' op memory plan is wrong: expected an offset in the arena that is a multiple of 64, but got 18}}
  %b1 = ad.buffer <arena, offset = 18, bytes = 16>
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  %b = ad.feed "b" into(%b1) : tensor<4xf32>
  return
}

// -----

func.func @static_in_pool() {
  %b0 = ad.buffer <pool, number = 1, bytes = 16>
  // expected-error @+1 {{'ad.feed' op memory plan is wrong: a pool holds tensors of dynamic shape, but got 'tensor<4xf32>'}}
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  return
}

// -----

func.func @copied_into_choice(%x: tensor<4xf32>, %c: i1, %n: index) {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.select %c, %b0, %b1 : !ad.buffer
  // expected-error @+1 {{'ad.copy' op expected 'into' to be a direct result of ad.buffer}}
  %a = ad.copy %x into(%b) : tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<4xf32> {
    scf.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @result_in_loop(%n: tensor<?xf32>) -> tensor<?xf32> {
  %b0 = ad.buffer <result, bytes = 4>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %first = ad.feed "a"(%d) into(%b0) : tensor<?xf32>
  // expected-error @+1 {{'scf.for' op memory plan is wrong: a loop writes the memory of a result of dynamic shape, which would be allocated each time}}
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %first) -> tensor<?xf32> {
    %a = ad.feed "a"(%d) into(%b0) : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

func.func @other_shape(%n: tensor<?xf32>) -> tensor<?x2xf32> {
  %b0 = ad.buffer <result, bytes = 8>
  %c0 = arith.constant 0 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  // expected-error @+1 {{'ad.feed' op memory plan is wrong: expected 'tensor<?x2xf32>' in the memory of a result, but got 'tensor<?x3xf32>'}}
  %a = ad.feed "a"(%d) into(%b0) : tensor<?x3xf32>
  %b = ad.reshape %a(%d) : tensor<?x3xf32> -> tensor<?x2xf32>
  return %b : tensor<?x2xf32>
}

// -----

func.func @turned(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %b0 = ad.buffer <result, bytes = 4>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.dim %x, %c1 : tensor<?x?xf32>
  %a = ad.feed "a"(%d, %e) into(%b0) : tensor<?x?xf32>
  %b = ad.reshape %a(%e, %d) : tensor<?x?xf32> -> tensor<?x?xf32>
  // expected-error @+1 {{'func.return' op memory plan is wrong: a result has another shape than the value in its memory}}
  return %b : tensor<?x?xf32>
}
