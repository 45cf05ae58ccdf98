// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu | FileCheck %s
// RUN: ad-opt %s --ad-emit-cpu=vector-bytes=32 | FileCheck %s --check-prefix=NARROW

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Equal shapes are one long vector, with a masked rest. A unit of work is a page of elements.
// CHECK-LABEL: func.func private @scale
// CHECK-SAME: ad.nanoseconds = 16000 : i64, ad.units = {{\[\[}}0, array<i64: 1024, 0, 1>]]
// CHECK: scf.for
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> vector<16xf32>
// CHECK: arith.mulf %{{.+}} : vector<16xf32>
// CHECK: llvm.intr.masked.store
// NARROW-LABEL: func.func private @scale
// NARROW: arith.mulf %{{.+}} : vector<8xf32>
ad.kernel private @scale(%a: tensor<40x1000xf32>) -> tensor<40x1000xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<40x1000xf32>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<40x1000xf32>) outs(%e : tensor<40x1000xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<40x1000xf32>
  ad.yield %r : tensor<40x1000xf32>
}

// The order on the kernel decides: 64 lanes and a halving tree, for any width of the registers.
// CHECK-LABEL: func.func private @sum
// CHECK: arith.addf %{{.+}} : vector<64xf32>
// CHECK: arith.addf %{{.+}} : vector<32xf32>
// CHECK: arith.addf %{{.+}} : vector<16xf32>
// CHECK: arith.addf %{{.+}} : vector<1xf32>
// NARROW-LABEL: func.func private @sum
// NARROW: arith.addf %{{.+}} : vector<64xf32>
ad.kernel private @sum(%a: tensor<4x200xf32>) -> tensor<4xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x200xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}
