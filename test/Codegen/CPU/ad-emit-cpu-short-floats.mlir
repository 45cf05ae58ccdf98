// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Short floats are chosen and repeated as integers, which every CPU can move.
//
// RUN: ad-opt %s --ad-emit-cpu | FileCheck %s

// CHECK-LABEL: func.func private @choose
// CHECK-NOT: {{(select|broadcast).*bf16}}
// CHECK: vector.broadcast %{{.+}} : i16 to vector<16xi16>
// CHECK-NOT: {{(select|broadcast).*bf16}}
// CHECK: arith.select %{{.+}} : vector<16xi1>, vector<16xi16>
// CHECK-NOT: {{(select|broadcast).*bf16}}
ad.kernel private @choose(%c: tensor<4x64xi1>, %x: tensor<4x64xbf16>, %y: tensor<4xbf16>) -> tensor<4x64xbf16> attributes
    {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4x64xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>,
        affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%c, %x, %y : tensor<4x64xi1>, tensor<4x64xbf16>, tensor<4xbf16>) outs(%e : tensor<4x64xbf16>) {
  ^bb0(%which: i1, %a: bf16, %b: bf16, %out: bf16):
    %s = arith.select %which, %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<4x64xbf16>
  ad.yield %r : tensor<4x64xbf16>
}
