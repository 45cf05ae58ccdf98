// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elements of a row that are divided by one value share its reciprocal. Four quotients have one branch, which divides
// where their steps may underflow or overflow.
//
// RUN: ad-opt %s --ad-emit-gpu | FileCheck %s

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum of the row, and its reciprocal in two parts.
// CHECK-LABEL: gpu.func @divide
// CHECK: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[HIGH:.+]] = arith.divf %[[ONE]], %[[SUM:.+]] : f32
// CHECK-NEXT: %[[NEGATED:.+]] = arith.negf %[[SUM]]
// CHECK-NEXT: %[[REST:.+]] = math.fma %[[NEGATED]], %[[HIGH]], %[[ONE]]
// CHECK-NEXT: %[[LOW:.+]] = arith.mulf %[[REST]], %[[HIGH]]
// CHECK: %[[LOWEST:.+]] = arith.select {{.+}} : f32
// CHECK: %[[ZERO:.+]] = arith.select {{.+}} : i32
// A quotient and its correction.
// CHECK: %[[SMALL:.+]] = arith.mulf %[[X:.+]], %[[LOW]]
// CHECK-NEXT: %[[QUOTIENT:.+]] = math.fma %[[X]], %[[HIGH]], %[[SMALL]]
// CHECK-NEXT: %[[REMAINDER:.+]] = math.fma %[[NEGATED]], %[[QUOTIENT]], %[[X]]
// CHECK-NEXT: %[[RESULT:.+]] = math.fma %[[REMAINDER]], %[[HIGH]], %[[QUOTIENT]]
// CHECK-NEXT: %[[MAGNITUDE:.+]] = math.absf %[[RESULT]]
// CHECK-NEXT: arith.cmpf ult, %[[MAGNITUDE]], %[[LOWEST]]
// CHECK: scf.if %{{.+}} -> (f32, f32, f32, f32)
// Low quotients of +0 by a positive divisor are right, and no reason to divide.
// CHECK: %[[BITS:.+]] = arith.bitcast %{{.+}} : f32 to i32
// CHECK-NEXT: arith.cmpi ne, %[[BITS]], %[[ZERO]]
// CHECK: scf.if %{{.+}} -> (f32, f32, f32, f32)
// CHECK-COUNT-4: arith.divf %{{.+}}, %[[SUM]]
// CHECK: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[RESULT]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[RESULT]]
// CHECK: scf.if %{{.+}} -> (f32, f32, f32, f32)
// CHECK-COUNT-4: arith.divf %{{.+}}, %[[SUM]]
// CHECK-NOT: arith.divf
// CHECK: gpu.return
ad.kernel private @divide(%a: tensor<16384x128xf32>) -> tensor<16384x128xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16384xf32>) -> tensor<16384xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<16384x128xf32>) outs(%f : tensor<16384xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %out, %x : f32
    linalg.yield %0 : f32
  } -> tensor<16384xf32>
  %g = tensor.empty() : tensor<16384x128xf32>
  %r = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<16384x128xf32>, tensor<16384xf32>) outs(%g : tensor<16384x128xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %0 = arith.divf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<16384x128xf32>
  ad.yield %r : tensor<16384x128xf32>
}
