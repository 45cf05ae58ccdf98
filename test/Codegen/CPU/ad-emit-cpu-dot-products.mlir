// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of bf16 that allow mma use the dot product instructions of the CPU.
//
// RUN: ad-opt %s --ad-emit-cpu=dot-products | FileCheck %s
// RUN: ad-opt %s --ad-emit-cpu=dot-products | FileCheck %s --check-prefix=REFUSED
// RUN: ad-opt %s --ad-emit-cpu | FileCheck %s --check-prefix=WITHOUT
// RUN: ad-opt %s --ad-emit-cpu="dot-products vector-bytes=32" | FileCheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: dpbf16ps

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Two rows of the right operand become one of pairs; the left one has its pairs in memory.
// CHECK-LABEL: func.func private @packed
// CHECK: llvm.alloca %{{.+}} x i32
// CHECK: arith.shli %{{.+}} : vector<16xi32>
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> i32
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
ad.kernel private @packed(%a: tensor<24x64xbf16>, %b: tensor<64x32xbf16>) -> tensor<24x32xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x32xf32>) -> tensor<24x32xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<24x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<24x32xf32>) attrs = {ad.allow = #ad.allow<mma>} {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %wide = ad.convert %x : bf16 to f32
    %other = ad.convert %y : bf16 to f32
    %next = math.fma %wide, %other, %sum : f32
    linalg.yield %next : f32
  } -> tensor<24x32xf32>
  ad.yield %r : tensor<24x32xf32>
}

// One tile of rows joins the pairs when it loads them.
// CHECK-LABEL: func.func private @joined
// CHECK-NOT: llvm.alloca %{{.+}} x i32
// CHECK: arith.shli %{{.+}} : vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
ad.kernel private @joined(%a: tensor<8x64xbf16>, %b: tensor<64x32xbf16>) -> tensor<8x32xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<8x32xf32>) attrs = {ad.allow = #ad.allow<mma>} {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %wide = ad.convert %x : bf16 to f32
    %other = ad.convert %y : bf16 to f32
    %next = math.fma %wide, %other, %sum : f32
    linalg.yield %next : f32
  } -> tensor<8x32xf32>
  ad.yield %r : tensor<8x32xf32>
}

// What the operation does not permit, and what has no whole pairs.
// REFUSED-LABEL: func.func private @without_permission
// REFUSED-NOT: dpbf16ps
ad.kernel private @without_permission(%a: tensor<8x64xbf16>, %b: tensor<64x32xbf16>) -> tensor<8x32xf32> attributes
    {allow = #ad.allow<mma>, kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %wide = ad.convert %x : bf16 to f32
    %other = ad.convert %y : bf16 to f32
    %next = math.fma %wide, %other, %sum : f32
    linalg.yield %next : f32
  } -> tensor<8x32xf32>
  ad.yield %r : tensor<8x32xf32>
}

// REFUSED-LABEL: func.func private @odd_k
// REFUSED-NOT: dpbf16ps
ad.kernel private @odd_k(%a: tensor<8x63xbf16>, %b: tensor<63x32xbf16>) -> tensor<8x32xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x63xbf16>, tensor<63x32xbf16>) outs(%f : tensor<8x32xf32>) attrs = {ad.allow = #ad.allow<mma>} {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %wide = ad.convert %x : bf16 to f32
    %other = ad.convert %y : bf16 to f32
    %next = math.fma %wide, %other, %sum : f32
    linalg.yield %next : f32
  } -> tensor<8x32xf32>
  ad.yield %r : tensor<8x32xf32>
}

// Few rows join pairs as they read them.
// CHECK-LABEL: func.func private @three_rows
// CHECK-NOT: llvm.alloca
// CHECK: arith.shli %{{.+}} : vector<16xi32>
// CHECK: dpbf16ps
// REFUSED-LABEL: func.func private @three_rows
ad.kernel private @three_rows(%a: tensor<3x64xbf16>, %b: tensor<64x32xbf16>) -> tensor<3x32xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x32xf32>) -> tensor<3x32xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<3x32xf32>) attrs = {ad.allow = #ad.allow<mma>} {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %wide = ad.convert %x : bf16 to f32
    %other = ad.convert %y : bf16 to f32
    %next = math.fma %wide, %other, %sum : f32
    linalg.yield %next : f32
  } -> tensor<3x32xf32>
  ad.yield %r : tensor<3x32xf32>
}
