// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=matmul:f16 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: option missing: expected OP:TYPE with an operation of ad that computes tensors and is no cast, but got 'matmul:f16'
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=cast:f16 2>&1 | FileCheck %s --check-prefix=CAST
// CAST: error: option missing: expected OP:TYPE with an operation of ad that computes tensors and is no cast, but got 'cast:f16'
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=dot:f32 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: error: option missing: expected f16, bf16, f8E4M3FN or f8E5M2 as the type, but got 'dot:f32'
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=dot:f16, 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: option missing: expected OP:TYPE with {{.*}}, but got ''
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=dot:bf16 2>&1 | FileCheck %s --check-prefix=MMA
// MMA: :[[#@LINE+7]]:8: error: 'ad.dot' op has ad.instruction = #ad.instruction<m = 16, n = 8, k = 16> for bf16, but computes in f32, since dot:bf16 is one of the missing kernels; remove ad.instruction or the name of the kernel that has it, or leave dot:bf16 out of the missing kernels
// RUN: ad-opt %s --ad-insert-precision-free-casts=missing=dot:f16 -o /dev/null
// The products of bf16x6 have one error.
// RUN: not ad-opt %S/Inputs/product.mlir --ad-to-cpu-frontend="kernels=dot=bf16x6 missing-kernels=dot:bf16" 2>&1 | FileCheck %s --check-prefix=NAMED --implicit-check-not=error:
// NAMED: error: 'ad.dot' op has ad.instruction {{.*}}; remove ad.instruction or the name of the kernel that has it

func.func @instruction(%x: tensor<16x16xbf16>) -> tensor<16x16xbf16> {
  %y = ad.dot %x, %x {allow = #ad.allow<mma>, order = #ad.order<block = 512>, ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>}
      : (tensor<16x16xbf16>, tensor<16x16xbf16>) -> tensor<16x16xbf16>
  return %y : tensor<16x16xbf16>
}

func.func @main() {
  return
}
