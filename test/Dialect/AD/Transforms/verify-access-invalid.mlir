// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Accesses that linalg accepts because the first and the last iteration are inside.
//
// RUN: ad-opt %s --ad-verify-linalg --split-input-file --verify-diagnostics

func.func @read_outside(%x: tensor<1xf32>) -> tensor<4096xf32> {
  %0 = ad.fusion movement (%a = %x) {kernel = "generic"} : (tensor<1xf32>) -> tensor<4096xf32> {
    %e = tensor.empty() : tensor<4096xf32>
    // expected-error @+1 {{'linalg.generic' op expected accesses inside operand 0 of type 'tensor<1xf32>', but axis 0 is read at d0 mod 4095}}
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 mod 4095)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]} ins(%a : tensor<1xf32>) outs(%e : tensor<4096xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4096xf32>
    ad.yield %r : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}

// -----

// Panels of 64 columns in a type that has panels of 32.
func.func @write_outside(%x: tensor<96x96xf32>) -> tensor<3x96x32xf32> {
  %0 = ad.fusion movement (%a = %x) {kernel = "generic"} : (tensor<96x96xf32>) -> tensor<3x96x32xf32> {
    %e = tensor.empty() : tensor<3x96x32xf32>
    // expected-error @+1 {{'linalg.generic' op expected the map of result 0 to be a projected permutation, or panels that its type has room for, but got (d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)}}
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>],
        iterator_types = ["parallel", "parallel"]} ins(%a : tensor<96x96xf32>) outs(%e : tensor<3x96x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x96x32xf32>
    ad.yield %r : tensor<3x96x32xf32>
  }
  return %0 : tensor<3x96x32xf32>
}

// -----

// Two elements of the operand in one of the result.
func.func @write_twice(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = ad.fusion movement (%a = %x) {kernel = "generic"} : (tensor<8xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @+1 {{expected the map of result 0 to be a projected permutation}}
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 floordiv 2)>],
        iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    ad.yield %r : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @unknown_size(%x: tensor<?xf32>, %n: index) -> tensor<8xf32> {
  %0 = ad.fusion movement (%a = %x) {kernel = "generic"} : (tensor<?xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error @+1 {{but axis 0 is read at d0 floordiv 2 along an unknown size}}
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8xf32>
    ad.yield %r : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// What the compiler makes itself: packed panels, a window, a reversed axis, an axis of size one that is kept.
func.func @inside(%x: tensor<96x90xf32>, %w: tensor<10xf32>) -> (tensor<3x96x32xf32>, tensor<4xf32>, tensor<10xf32>) {
  %0:3 = ad.fusion movement (%a = %x, %b = %w) {kernel = "generic"}
      : (tensor<96x90xf32>, tensor<10xf32>) -> (tensor<3x96x32xf32>, tensor<4xf32>, tensor<10xf32>) {
    %e = tensor.empty() : tensor<3x96x32xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>],
        iterator_types = ["parallel", "parallel"]} ins(%a : tensor<96x90xf32>) outs(%e : tensor<3x96x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x96x32xf32>
    %f = tensor.empty() : tensor<4xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 2 + 3)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]} ins(%b : tensor<10xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %g = tensor.empty() : tensor<10xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (-d0 + 9)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]} ins(%b : tensor<10xf32>) outs(%g : tensor<10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<10xf32>
    %zero = arith.constant 0.0 : f32
    %i = tensor.empty() : tensor<1xf32>
    %h = linalg.fill ins(%zero : f32) outs(%i : tensor<1xf32>) -> tensor<1xf32>
    %u = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>],
        iterator_types = ["reduction"]} ins(%b : tensor<10xf32>) outs(%h : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %out, %in : f32
      linalg.yield %sum : f32
    } -> tensor<1xf32>
    ad.yield %r, %s, %t : tensor<3x96x32xf32>, tensor<4xf32>, tensor<10xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<3x96x32xf32>, tensor<4xf32>, tensor<10xf32>
}
