// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-gpu --split-input-file --verify-diagnostics
// RUN: not ad-opt %s --ad-emit-gpu=chip=sm_99 --split-input-file 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not ad-opt %s --ad-emit-gpu=tile=32x32 --split-input-file 2>&1 | FileCheck %s --check-prefix=TILE
// CHIP: error: unknown chip 'sm_99', expected sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100

ad.kernel private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  // expected-error @+1 {{'arith.addf' op is not linalg on tensors}}
  %r = arith.addf %a, %a : tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// -----

ad.kernel private @k(%a: tensor<4xf32>) -> tensor<2x4xf32> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<2x4xf32>
  // expected-error @+1 {{'tensor.insert_slice' op changes the rank; the GPU emitter expects equal ranks}}
  %r = tensor.insert_slice %a into %e[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  ad.yield %r : tensor<2x4xf32>
}

// -----

// TILE: error: 'ad.kernel' op unknown tile '32x32' for fma, expected 128x128 or 128x64 or 64x128 or 16x256 or 256x16 or 32x128 or 128x32 or 64x64
ad.kernel private @dot(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) -> tensor<4x6xf32> attributes {kernel_class = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) outs(%start : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<4x6xf32>
  ad.yield %r : tensor<4x6xf32>
}

// -----

ad.kernel private @fixed_generic(%a: tensor<16x16xf16>) -> tensor<16x16xf32> attributes {kernel_class = "generic"} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  // expected-error @+1 {{'linalg.generic' op expected a kernel that uses its ad.instruction, but this one of class generic does not: no other class covers it; run --ad-choose-instructions before --ad-fuse}}
  %r = linalg.generic {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>,
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<16x16xf16>, tensor<16x16xf16>) outs(%start : tensor<16x16xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %wx = ad.convert %x : f16 to f32
    %wy = ad.convert %y : f16 to f32
    %next = math.fma %wx, %wy, %sum : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  ad.yield %r : tensor<16x16xf32>
}

// -----

ad.kernel private @fixed_f32(%a: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {kernel_class = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  // expected-error @+1 {{'linalg.generic' op expected a kernel that uses its ad.instruction, but this one of class contraction does not: it multiplies other types; run --ad-choose-instructions before --ad-fuse}}
  %r = linalg.generic {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>,
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%start : tensor<16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  ad.yield %r : tensor<16x16xf32>
}
