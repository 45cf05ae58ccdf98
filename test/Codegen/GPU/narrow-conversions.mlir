// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-gpu=chip=sm_80 | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-to-gpu=chip=sm_86 | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-to-gpu=chip=sm_89 | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-to-gpu=chip=sm_90 | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-to-gpu=chip=sm_90a | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-to-gpu=chip=sm_100 | FileCheck %s

// All chips round f32 to 16 bits by an instruction, two elements of a vector at once. narrow_conversions_test.py compares the
// results with the definition of the formats.

// CHECK: .entry cast_0(
// CHECK-COUNT-2: cvt.rn.bf16x2.f32
// CHECK-NOT: cvt.rn
// CHECK: st.global.v2.b32
func.func @to_bf16(%a: tensor<4096xf32>) -> tensor<4096xbf16> {
  %0 = ad.cast %a : tensor<4096xf32> -> tensor<4096xbf16>
  return %0 : tensor<4096xbf16>
}

// -----

// CHECK-COUNT-2: cvt.rn.f16x2.f32
// CHECK-NOT: cvt.rn
// CHECK: st.global.v2.b32
func.func @to_f16(%a: tensor<4096xf32>) -> tensor<4096xf16> {
  %0 = ad.cast %a : tensor<4096xf32> -> tensor<4096xf16>
  return %0 : tensor<4096xf16>
}

// -----

// Fewer elements than a vector.
// CHECK: cvt.rn.bf16.f32
// CHECK-NOT: cvt.rn
func.func @scalar(%a: tensor<3xf32>) -> tensor<3xbf16> {
  %0 = ad.cast %a : tensor<3xf32> -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// -----

// An operation computes in f32 and rounds once. The upper half of an f32 is a bf16: a shift.
// CHECK: ld.global.v4.b32
// CHECK-NOT: cvt.f32
// CHECK: fma.rn.f32
// CHECK-COUNT-4: cvt.rn.bf16x2.f32
// CHECK-NOT: cvt.rn
func.func @between_bf16(%a: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %0 = ad.fma %a, %a, %a : tensor<4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>
  return %0 : tensor<4096xbf16>
}

// -----

// CHECK: cvt.f32.f16
// CHECK: fma.rn.f32
// CHECK-COUNT-4: cvt.rn.f16x2.f32
// CHECK-NOT: cvt.rn
func.func @between_f16(%a: tensor<4096xf16>) -> tensor<4096xf16> {
  %0 = ad.fma %a, %a, %a : tensor<4096xf16>, tensor<4096xf16>, tensor<4096xf16>
  return %0 : tensor<4096xf16>
}

// -----

// Of an f64 the integer code: by way of an f32 it would be rounded twice.
// CHECK: .entry
// CHECK-NOT: cvt.rn
// CHECK: st.global.v2.b16
func.func @from_f64(%a: tensor<4096xf64>) -> tensor<4096xbf16> {
  %0 = ad.cast %a : tensor<4096xf64> -> tensor<4096xbf16>
  return %0 : tensor<4096xbf16>
}
