// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu | FileCheck %s --check-prefix=PLAIN
// RUN: ad-opt %s --ad-to-gpu | FileCheck %s --check-prefix=PLAIN
// RUN: ad-opt %s --ad-to-cpu=profile=true | FileCheck %s --check-prefix=TIMED
// RUN: ad-opt %s --ad-to-gpu=profile=true | FileCheck %s --check-prefix=TIMED

// Kernels are timed only with the option `profile`: each time costs two calls.
// PLAIN-LABEL: llvm.func @adrt_entry_main
// PLAIN-NOT: adrt_kernel_begin
// TIMED-LABEL: llvm.func @adrt_entry_main
// TIMED: llvm.call @adrt_kernel_begin
// TIMED: llvm.call @adrt_kernel_end
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
