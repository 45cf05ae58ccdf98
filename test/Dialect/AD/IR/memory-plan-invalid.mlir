// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @storage() {
  // expected-error @+1 {{expected arena, pool, argument or result, but got 'heap'}}
  %b = ad.buffer <heap, bytes = 16>
  return
}

// -----

func.func @no_bytes() {
  // expected-error @+1 {{struct is missing required parameter: bytes}}
  %b = ad.buffer <arena, offset = 16>
  return
}

// -----

func.func @numbered_arena() {
  // expected-error @+1 {{expected no number of the arena, but got 1}}
  %b = ad.buffer <arena, number = 1, bytes = 16>
  return
}

// -----

func.func @pool_without_number() {
  // expected-error @+1 {{expected the number of a pool, from 1, but got 0}}
  %b = ad.buffer <pool, bytes = 16>
  return
}

// -----

func.func @negative_number() {
  // expected-error @+1 {{expected number to be at least 0, but got -1}}
  %b = ad.buffer <argument, number = -1, bytes = 16>
  return
}

// -----

func.func @negative_offset() {
  // expected-error @+1 {{expected offset to be at least 0, but got -64}}
  %b = ad.buffer <arena, offset = -64, bytes = 16>
  return
}

// -----

func.func @negative_bytes() {
  // expected-error @+1 {{expected bytes to be at least 0, but got -1}}
  %b = ad.buffer <arena, bytes = -1>
  return
}

// -----

func.func @beyond_all_memory() {
  // expected-error @+1 {{expected offset and bytes to be at most 2^60, but got 9223372036854775807 and 1}}
  %b = ad.buffer <arena, offset = 9223372036854775807, bytes = 1>
  return
}

// -----

func.func @offset_in_argument(%x: tensor<4xf32> {ad.donated = 0}) -> tensor<4xf32> {
  // expected-error @+1 {{expected offset 0 in the memory of an argument or result, but got 4}}
  %b = ad.buffer <argument, offset = 4, bytes = 12>
  return %x : tensor<4xf32>
}

// -----

func.func @copy_c1(%x: tensor<4xf32>) {
  %b = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.copy' op failed to verify that all of {source, result} have same type}}
  %y = "ad.copy"(%x, %b) : (tensor<4xf32>, !ad.buffer) -> tensor<2xf32>
  return
}

// -----

func.func @buffer_c1_in_a_loop(%n: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
    // expected-error @+1 {{'ad.buffer' op expected a func.func as its parent}}
    %b = ad.buffer <arena, bytes = 16>
  }
  return
}

// -----

func.func @buffer_c2_no_such_argument(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.buffer' op expected one of 1 arguments of the function, but got argument 1}}
  %b = ad.buffer <argument, number = 1, bytes = 16>
  return
}

// -----

func.func @buffer_c2_no_such_result() {
  // expected-error @+1 {{'ad.buffer' op expected one of 0 results of the function, but got result 0}}
  %b = ad.buffer <result, bytes = 16>
  return
}

// -----

func.func @buffer_c2_no_tensor(%n: index) {
  // expected-error @+1 {{'ad.buffer' op expected argument 0 to be a tensor, but got 'index'}}
  %b = ad.buffer <argument, bytes = 8>
  return
}

// -----

func.func @buffer_c2_dynamic_result(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'ad.buffer' op expected 4 bytes, as 'tensor<?xf32>' has, but got 8}}
  %b = ad.buffer <result, bytes = 8>
  return %x : tensor<?xf32>
}

// -----

func.func @buffer_c2_bytes(%x: tensor<4xf32> {ad.donated = 0}) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.buffer' op expected 16 bytes, as 'tensor<4xf32>' has, but got 1000}}
  %b = ad.buffer <argument, bytes = 1000>
  return %x : tensor<4xf32>
}

// -----

func.func @number_of_pool() {
  // expected-error @+1 {{expected number to be at most 2^20, but got 9223372036854775807}}
  %b = ad.buffer <pool, number = 9223372036854775807, bytes = 4>
  return
}

// -----

func.func @number_of_argument(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected number to be at most 2^20, but got 1048577}}
  %b = ad.buffer <argument, number = 1048577, bytes = 16>
  return
}

// -----

// Memory is planned before the program runs: no operation chooses a buffer.
func.func @into_select(%c: i1) {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 16>
  %b = arith.select %c, %b0, %b1 : !ad.buffer
  // expected-error @+1 {{'ad.feed' op expected 'into' to be a direct result of ad.buffer}}
  %a = ad.feed "a" into(%b) : tensor<4xf32>
  return
}

// -----

func.func @into_if(%c: i1) {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 16>
  %b = scf.if %c -> !ad.buffer {
    scf.yield %b0 : !ad.buffer
  } else {
    scf.yield %b1 : !ad.buffer
  }
  // expected-error @+1 {{'ad.feed' op expected 'into' to be a direct result of ad.buffer}}
  %a = ad.feed "a" into(%b) : tensor<4xf32>
  return
}

// -----

func.func @into_carry(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b0 = ad.buffer <arena, bytes = 16>
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%v = %b0) -> !ad.buffer {
    scf.yield %v : !ad.buffer
  }
  // expected-error @+1 {{'ad.launch' op expected 'into' to be a direct result of ad.buffer}}
  %a = ad.launch @k(%x) into(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
ad.kernel private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  ad.yield %x : tensor<4xf32>
}

// -----

func.func @into_argument(%b: !ad.buffer) {
  // expected-error @+1 {{'ad.feed' op expected 'into' to be a direct result of ad.buffer}}
  %a = ad.feed "a" into(%b) : tensor<4xf32>
  return
}
