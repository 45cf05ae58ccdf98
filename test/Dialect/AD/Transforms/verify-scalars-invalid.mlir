// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalar code that gives other bits on other CPUs, or calls a library.
//
// RUN: ad-opt %s --ad-verify-linalg --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-emit-cpu --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-emit-gpu --split-input-file --verify-diagnostics

ad.kernel @library(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    // expected-error @+1 {{'math.exp' op expected scalar code of arith, of fma, sqrt, absf, absi, floor, ceil, roundeven and copysign of math}}
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// -----

ad.kernel @either_zero(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    // expected-error @+1 {{'arith.maxnumf' op gives either zero of -0 and +0; expected arith.maximumf or arith.minimumf}}
    %s = arith.maxnumf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// -----

ad.kernel @narrow(%a: tensor<4xbf16>) -> tensor<4xbf16> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
  ^bb0(%x: bf16, %out: bf16):
    // expected-error @+1 {{'arith.addf' op expected f16, f32 or f64, but computes in 'bf16', which CPUs round in different ways; widen with ad.convert}}
    %s = arith.addf %x, %x : bf16
    linalg.yield %s : bf16
  } -> tensor<4xbf16>
  ad.yield %r : tensor<4xbf16>
}

// -----

ad.kernel @fused_half(%a: tensor<4xf16>) -> tensor<4xf16> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf16>) outs(%e : tensor<4xf16>) {
  ^bb0(%x: f16, %out: f16):
    // expected-error @+1 {{'math.fma' op expected f32 or f64, but multiplies and adds in f16}}
    %s = math.fma %x, %x, %x : f16
    linalg.yield %s : f16
  } -> tensor<4xf16>
  ad.yield %r : tensor<4xf16>
}

// -----

ad.kernel @wide_scalar(%a: tensor<4xi64>) -> tensor<4xi64> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xi64>) outs(%e : tensor<4xi64>) {
  ^bb0(%x: i64, %out: i64):
    // expected-error @+1 {{'arith.extsi' op expected integers of at most 64 bits in a kernel, but computes in 'i65'}}
    %w = arith.extsi %x : i64 to i65
    %s = arith.trunci %w : i65 to i64
    linalg.yield %s : i64
  } -> tensor<4xi64>
  ad.yield %r : tensor<4xi64>
}

// -----

ad.kernel @wide_at_top(%a: tensor<4xi64>, %n: i64) -> tensor<4xi64> attributes {kernel_class = "generic"} {
  // expected-error @+1 {{'arith.extui' op expected integers of at most 64 bits in a kernel, but computes in 'i128'}}
  %w = arith.extui %n : i64 to i128
  // expected-error @+1 {{'arith.trunci' op expected integers of at most 64 bits in a kernel, but computes in 'i128'}}
  %s = arith.trunci %w : i128 to i64
  ad.yield %a : tensor<4xi64>
}
