// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A chain whose steps compute other sums is unrolled together with their chains: the code stays small.
// RUN: ad-opt %s --ad-emit-gpu -o %t
// RUN: %python -c "lines = len(open(r'%t').readlines()); assert 500 < lines < 20000, lines"

ad.kernel private @k0(%a1: tensor<17x32xf32>, %a2: tensor<32x17xbf16>, %a13: tensor<17x17xf32>) -> (tensor<f32>) attributes {kernel_class = "row", order = #ad.order<block = 512>} {
  %e3 = tensor.empty() : tensor<17x17x1xf32>
  %c4 = arith.constant 0x80000000 : f32
  %f5 = linalg.fill ins(%c4 : f32) outs(%e3 : tensor<17x17x1xf32>) -> tensor<17x17x1xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d0, 0)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a1, %a2 : tensor<17x32xf32>, tensor<32x17xbf16>) outs(%f5 : tensor<17x17x1xf32>) {
  ^bb0(%x0: f32, %x1: bf16, %o0: f32):
    %s0 = arith.extf %x1 : bf16 to f32
    %s1 = math.fma %x0, %s0, %o0 : f32
    linalg.yield %s1 : f32
  } -> tensor<17x17x1xf32>
  %e7 = tensor.empty() : tensor<17x17xf32>
  %c8 = arith.constant 0x7F800000 : f32
  %f9 = linalg.fill ins(%c8 : f32) outs(%e7 : tensor<17x17xf32>) -> tensor<17x17xf32>
  %c10 = arith.constant 0x41000000 : f32
  %c11 = arith.constant 0xC1000000 : f32
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v6 : tensor<17x17x1xf32>) outs(%f9 : tensor<17x17xf32>) {
  ^bb0(%x0: f32, %o0: f32):
    %s0 = arith.minimumf %x0, %c10 : f32
    %s1 = arith.maximumf %s0, %c11 : f32
    %s2 = arith.minimumf %o0, %s1 : f32
    linalg.yield %s2 : f32
  } -> tensor<17x17xf32>
  %e14 = tensor.empty() : tensor<17x17xf32>
  %c15 = arith.constant 0x0 : f32
  %f16 = linalg.fill ins(%c15 : f32) outs(%e14 : tensor<17x17xf32>) -> tensor<17x17xf32>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a13, %v12 : tensor<17x17xf32>, tensor<17x17xf32>) outs(%f16 : tensor<17x17xf32>) {
  ^bb0(%x0: f32, %x1: f32, %o0: f32):
    %s0 = math.fma %x0, %x1, %o0 : f32
    linalg.yield %s0 : f32
  } -> tensor<17x17xf32>
  %e19 = tensor.empty() : tensor<f32>
  %c20 = arith.constant 0x0 : f32
  %f21 = linalg.fill ins(%c20 : f32) outs(%e19 : tensor<f32>) -> tensor<f32>
  %c22 = arith.constant 0x41000000 : f32
  %c23 = arith.constant 0xC1000000 : f32
  %v24 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%v17, %v12 : tensor<17x17xf32>, tensor<17x17xf32>) outs(%f21 : tensor<f32>) {
  ^bb0(%x0: f32, %x1: f32, %o0: f32):
    %s0 = arith.minimumf %x0, %c22 : f32
    %s1 = arith.maximumf %s0, %c23 : f32
    %s2 = arith.mulf %s1, %x1 : f32
    %s3 = arith.addf %s2, %o0 : f32
    linalg.yield %s3 : f32
  } -> tensor<f32>
  ad.yield %v24 : tensor<f32>
}
