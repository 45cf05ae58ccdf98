// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// --check-gradients widens the program to f64 and compares its gradients with differences, on both targets.
// RUN: ad-runner %s --check-gradients --arg w=normal:1 --arg x=normal:2 --arg n=arange | FileCheck %s
// RUN: ad-runner %s --check-gradients --arg w=normal:1 --arg x=normal:2 --arg n=arange --target reference | FileCheck %s
// CHECK: gradient of 'w': 12 elements checked, largest relative error {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}
// CHECK-NEXT: gradient of 'x': 3 elements checked, largest relative error {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}
func.func @main(%w: tensor<4x3xf32> {ad.name = "w"}, %x: tensor<3xf32> {ad.name = "x"},
                %n: tensor<2xi32> {ad.name = "n"}) -> tensor<f32> {
  %0 = ad.mul %w, %x : tensor<4x3xf32>, tensor<3xf32>
  %1 = ad.tanh %0 : tensor<4x3xf32>
  %2 = ad.mul %1, %0 : tensor<4x3xf32>
  %3 = ad.reduce_sum %2 axes [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %3 : tensor<f32>
}

// RUN: %python %S/Inputs/exits.py 3 ad-runner %s --entry wrong --check-gradients --arg arg0=normal:1 | FileCheck %s --check-prefix=WRONG
// RUN: %python %S/Inputs/exits.py 3 ad-runner %s --entry wrong --check-gradients --arg arg0=normal:1 2>&1 >/dev/null | FileCheck %s --check-prefix=ERROR
// ERROR: ad-runner: error: gradients of @wrong by 'arg0' differ from differences of its values
// WRONG: gradient of 'arg0': 3 elements checked, {{.*}}, 3 wrong; at element {{[0-2]}}: got {{.*}}, differences give
func.func @wrong(%x: tensor<3xf32>) -> tensor<f32> {
  %0 = ad.stop_gradient %x : tensor<3xf32>
  %1 = ad.mul %0, %x : tensor<3xf32>
  %2 = ad.reduce_sum %1 axes [0] : tensor<3xf32> -> tensor<f32>
  return %2 : tensor<f32>
}

// RUN: %python %S/Inputs/exits.py 2 ad-runner %s --entry vector --check-gradients --arg arg0=normal:1 2>&1 | FileCheck %s --check-prefix=VECTOR
// VECTOR: ad-runner: error: --check-gradients expects a scalar float as the first result of @vector, found tensor<3xf32>
func.func @vector(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// RUN: %python %S/Inputs/exits.py 2 ad-runner %s --entry integers --check-gradients --arg arg0=zeros 2>&1 | FileCheck %s --check-prefix=INTEGERS
// INTEGERS: ad-runner: error: --check-gradients expects an argument of float type, @integers has none
func.func @integers(%n: tensor<i32>) -> tensor<f32> {
  %0 = ad.cast %n : tensor<i32> -> tensor<f32>
  return %0 : tensor<f32>
}

// RUN: %python %S/Inputs/exits.py 2 ad-runner %s --entry fed --check-gradients --arg arg0=zeros --feed y=zeros 2>&1 | FileCheck %s --check-prefix=FED
// FED: ad-runner: error: --check-gradients runs the program many times on the same values, but it has feed 'y'; make it an argument
func.func @fed(%x: tensor<f32>) -> tensor<f32> {
  %y = ad.feed "y" : tensor<f32>
  %0 = ad.add %x, %y : tensor<f32>
  return %0 : tensor<f32>
}

// Operations that only round do not in f64: differences of a program in 8 bits would be steps.
// RUN: ad-runner %s --entry rounded --check-gradients --arg arg0=normal:1 --arg arg1=normal:2 --arg arg2=zeros | FileCheck %s --check-prefix=ROUNDED
// ROUNDED: gradient of 'arg0': 12 elements checked, largest relative error {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}
// ROUNDED-NEXT: gradient of 'arg1': 8 elements checked, largest relative error {{[0-9.]+}}e-{{0[7-9]|1[0-9]}}
func.func @rounded(%x: tensor<3x4xbf16>, %w: tensor<4x2xf32>, %key: tensor<i64>) -> tensor<f32> {
  %y, %l, %r = ad.scaled_dot %x, %w : (tensor<3x4xbf16>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %0 = ad.cast_stochastic %y, %key, %key : tensor<3x2xf32>, tensor<i64>, tensor<i64> -> tensor<3x2xbf16>
  %1 = ad.mul %0, %0 : tensor<3x2xbf16>
  %2 = ad.cast %1 : tensor<3x2xbf16> -> tensor<3x2xf32>
  %3 = ad.reduce_sum %2 axes [0, 1] : tensor<3x2xf32> -> tensor<f32>
  return %3 : tensor<f32>
}
