// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-emit-cpu=vector-bytes=8 | FileCheck %s

// A register of 8 bytes has one element of f64: no block can be transposed in registers, so vectors along the result
// are loaded with a stride.
// CHECK-LABEL: func.func private @movement_0
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.load {{.+}} -> vector<2xf64>
// CHECK: llvm.store {{.+}} : vector<2xf64>, !llvm.ptr
func.func @main(%a: tensor<8x6xf64>) -> tensor<6x8xf64> {
  %y = ad.transpose %a [1, 0] : tensor<8x6xf64>
  return %y : tensor<6x8xf64>
}
