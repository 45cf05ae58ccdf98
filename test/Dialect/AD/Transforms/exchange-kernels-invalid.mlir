// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-exchange-kernels
// RUN: not ad-opt %S/exchange-kernels.mlir --ad-exchange-kernels=kernels=dot=fp16 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: option kernels: expected written, serial, pairwise, tf32, bf16x3, bf16x6 or bf16x9 as the kernel of dot, but got 'fp16'
// RUN: not ad-opt %S/Inputs/named-kernel.mlir --ad-set-numerics --ad-verify-numerics 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: error: 'ad.softmax' op has ad.named_kernel, which means nothing from here on; run --ad-to-cpu-frontend first, or --ad-exchange-kernels alone

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected written, serial, pairwise, shifted, online or unshifted as its named kernel, but got 'welford'}}
  %y = ad.softmax %x axis 0 {ad.named_kernel = "welford"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has no named kernels, but got 'serial'}}
  %y = ad.relu %x {ad.named_kernel = "serial"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @covers(%a: tensor<4x8xf64>, %b: tensor<8x2xf64>) -> tensor<4x2xf64> {
  // expected-error @below {{expected operands of f32, which the kernel 'tf32' is for}}
  %y = ad.dot %a, %b {ad.named_kernel = "tf32"} : (tensor<4x8xf64>, tensor<8x2xf64>) -> tensor<4x2xf64>
  return %y : tensor<4x2xf64>
}

// -----

func.func @type(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected 'ad.named_kernel' to be a string on an operation of ad, but got 3 : i64}}
  %y = ad.softmax %x axis 0 {ad.named_kernel = 3} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{expected 'ad.named_kernel' to be a string on an operation of ad, but got "serial"}}
func.func private @place() attributes {ad.named_kernel = "serial"}
