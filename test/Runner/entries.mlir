// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A program is its entry and the functions that it calls. Another function may have operations that no target compiles, a loop that never
// advances, or an undefined gradient. It is refused as an entry, with its location.
// RUN: ad-runner %s --cache off --arg arg0=arange --print | FileCheck %s
// RUN: ad-runner %s --cache off --target gpu-sim --arg arg0=arange --print | FileCheck %s
// RUN: ad-runner %s --target reference --arg arg0=arange --print | FileCheck %s
// CHECK: res0: tensor<4xf32> = [0. 2. 4. 6.]
// RUN: ad-runner %s --cache off --entry scalar --check-gradients --arg arg0=normal:1 | FileCheck %s --check-prefix=GRADIENTS
// GRADIENTS: gradient of 'arg0': 4 elements checked
// RUN: ad-runner %s --cache off --arg arg0=arange --dump-optimized %t.mlir
// RUN: FileCheck %s --check-prefix=DUMP --input-file %t.mlir
// DUMP-NOT: @growing
// DUMP: func.func @main
// DUMP-NOT: @growing
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ad.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @scalar(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = ad.mul %x, %x : tensor<4xf32>
  %1 = ad.reduce_sum %0 axes [0] : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// Visibility has no meaning for entries: a private function may be one.
// RUN: ad-runner %s --cache off --entry hidden --arg arg0=arange --print | FileCheck %s
// RUN: ad-runner %s --cache off --target gpu-sim --entry hidden --arg arg0=arange --print | FileCheck %s
func.func private @hidden(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: not ad-runner %s --cache off --entry growing --arg arg0=arange --dim arg0.0=4 2>&1 | FileCheck %s --check-prefix=GROWING
// RUN: not ad-runner %s --cache off --target gpu-sim --entry growing --arg arg0=arange --dim arg0.0=4 2>&1 | FileCheck %s --check-prefix=GROWING
// GROWING: entries.mlir:[[#@LINE+2]]:8: error: 'scf.while' op carries a tensor of dynamic shape; use scf.for, or a static shape
func.func @growing(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = scf.while (%a = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    %sum = ad.reduce_sum %a axes [0] : tensor<?xf32> -> tensor<f32>
    %limit = ad.constant dense<10.0> : tensor<f32>
    %less = ad.compare lt %sum, %limit : tensor<f32>, tensor<f32>
    %goes_on = tensor.extract %less[] : tensor<i1>
    scf.condition(%goes_on) %a : tensor<?xf32>
  } do {
  ^bb0(%a: tensor<?xf32>):
    %b = ad.add %a, %a : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// RUN: not ad-runner %s --target reference --entry standing --arg arg0=arange 2>&1 | FileCheck %s --check-prefix=STANDING
// STANDING: error: 'scf.for' op requires a positive step, but got 0
func.func @standing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %n = arith.constant 4 : index
  %0 = scf.for %i = %zero to %n step %zero iter_args(%a = %x) -> (tensor<4xf32>) {
    %b = ad.add %a, %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// RUN: not ad-runner %s --target reference --entry gradient --arg arg0=arange 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not ad-runner %s --cache off --entry gradient --arg arg0=arange 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE: error: 'ad.value_and_grad' op expected 'elsewhere' to have a body
func.func private @elsewhere(tensor<4xf32>) -> tensor<f32>
func.func @gradient(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %0, %1 = ad.value_and_grad @elsewhere(%x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %0, %1 : tensor<f32>, tensor<4xf32>
}
