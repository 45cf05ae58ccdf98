// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=matmul:f16 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: option missing: expected OP:TYPE with an operation of ad that computes tensors and is no cast, but got 'matmul:f16'
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=cast:f16 2>&1 | FileCheck %s --check-prefix=CAST
// CAST: error: option missing: expected OP:TYPE with an operation of ad that computes tensors and is no cast, but got 'cast:f16'
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=dot:f32 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: error: option missing: expected f16, bf16, f8E4M3FN or f8E5M2 as the type, but got 'dot:f32'
// RUN: not ad-opt %s --ad-insert-precision-free-casts=missing=dot:f16, 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: option missing: expected OP:TYPE with {{.*}}, but got ''

func.func @main() {
  return
}
