// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-print-graph --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-print-procedure --split-input-file --verify-diagnostics
// RUN: not ad-opt %S/Inputs/linear.mlir --ad-print-graph=file=%t/missing/file 2>&1 | FileCheck %s
// CHECK: error: {{.*}}missing/file

// expected-error @+1 {{'func.func' op has unstructured control flow, which has no text form}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
