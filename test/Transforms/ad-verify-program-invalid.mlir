// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What no target runs. All targets refuse it at the same place.
//
// RUN: ad-opt %s --ad-verify-program --allow-unregistered-dialect --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-to-cpu --allow-unregistered-dialect --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-to-gpu --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @unregistered(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'foo.bar' op is not registered; programs are written in ad, arith, check, func, linalg, math, scf and tensor}}
  %t = "foo.bar"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

// expected-error @+1 {{a value of type 'tensor<4xvector<4xf32>>' runs on no target; expected a ranked tensor of i1, i8}}
func.func @vectors(%x: tensor<4xvector<4xf32>>) -> tensor<4xvector<4xf32>> {
  return %x : tensor<4xvector<4xf32>>
}

// -----

func.func @wide(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a value of type 'i128' runs on no target}}
  %0 = arith.constant 1 : i128
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{a value of type 'memref<4xf32>' runs on no target}}
func.func private @declared(memref<4xf32>)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @rounding(%x: tensor<f32>) -> tensor<f16> {
  %0 = tensor.extract %x[] : tensor<f32>
  // expected-error @+1 {{'arith.truncf' op rounds upward, but all targets round to_nearest_even; leave out the mode}}
  %1 = arith.truncf %0 upward : f32 to f16
  %2 = ad.full %1 : f16 -> tensor<f16>
  return %2 : tensor<f16>
}

// -----

// expected-error @+1 {{'llvm.func' op has a name of the runtime or of generated code; expected one that does not begin with 'adrt_', but got '@adrt_arena'}}
llvm.func @adrt_arena() -> i64
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = ad.tanh %x : tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error @+1 {{expected one that does not begin with 'ad_data_', but got '@ad_data_0'}}
llvm.mlir.global internal @ad_data_0(1 : i32) : i32
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @main(%x: tensor<f32>, %i: index, %n: index) -> tensor<f32> {
  // expected-error @+1 {{'affine.apply' op expected index maps that divide by positive constants only}}
  %q = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%i)[%n]
  return %x : tensor<f32>
}

// -----

func.func @main(%x: tensor<f32>, %i: index) -> tensor<f32> {
  // expected-error @+1 {{'affine.max' op expected index maps that divide by positive constants only}}
  %q = affine.max affine_map<(d0) -> (d0, (d0 + 1) mod (-1))>(%i)
  return %x : tensor<f32>
}

// -----

ad.kernel private @k(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> attributes {kernel_class = "generic"} {
  // expected-error @+1 {{'linalg.generic' op expected index maps that divide by positive constants only}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  ad.yield %r : tensor<?xf32>
}

// -----

func.func @uncountable(%x: tensor<1x1xf32>) -> tensor<f32> {
  // expected-error @+1 {{expected a tensor of fewer than 2^63 elements, but got 'tensor<2147483648x4294967296xf32>'}}
  %b = ad.broadcast %x : tensor<1x1xf32> -> tensor<2147483648x4294967296xf32>
  %y = ad.reduce_sum %b axes [0, 1] : tensor<2147483648x4294967296xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @countable(%x: tensor<1x1xf32>) -> tensor<0x2147483648x4294967296xf32> {
  %b = ad.broadcast %x : tensor<1x1xf32> -> tensor<2147483648x4294967295xf32>
  %e = ad.broadcast %x : tensor<1x1xf32> -> tensor<0x2147483648x4294967296xf32>
  return %e : tensor<0x2147483648x4294967296xf32>
}
