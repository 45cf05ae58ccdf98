// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s --entry check
// RUN: ad-runner --target cpu %s --entry check
// RUN: not ad-runner --target reference %s --arg x=arange --arg y=arange --dim x.0=2 --dim y.0=3 2>&1 | FileCheck %s
// RUN: not ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=2 --dim y.0=3 2>&1 | FileCheck %s
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=1 --dim y.0=3 --print | FileCheck %s --check-prefix=LEFT
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=3 --dim y.0=1 --print | FileCheck %s --check-prefix=RIGHT
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=1 --dim y.0=1 --print | FileCheck %s --check-prefix=ONE
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=0 --dim y.0=1 --print | FileCheck %s --check-prefix=EMPTY

// Check 52: sizes that only run time knows broadcast like NumPy, with gradients; sizes 2 and 3 are a located error.
// CHECK: check-52-broadcast.mlir:[[#@LINE+12]]:{{[0-9]+}}: error: {{.*}}sizes {{2 and 3|3 and 2}}
// LEFT: product: tensor<3xf32> = [0. 0. 0.]
// LEFT: dx: tensor<1xf32> = [3.]
// LEFT: dy: tensor<3xf32> = [0. 0. 0.]
// RIGHT: product: tensor<3xf32> = [0. 0. 0.]
// RIGHT: dx: tensor<3xf32> = [0. 0. 0.]
// RIGHT: dy: tensor<1xf32> = [3.]
// ONE: product: tensor<1xf32> = [0.]
// EMPTY: product: tensor<0xf32> = []
// EMPTY: dx: tensor<0xf32> = []
// EMPTY: dy: tensor<1xf32> = [0.]
func.func private @product(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>) {
  %z = ad.mul %x, %y : tensor<?xf32>
  %s = ad.reduce_sum %z axes [0] : tensor<?xf32> -> tensor<f32>
  return %s, %z : tensor<f32>, tensor<?xf32>
}

func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %y: tensor<?xf32> {ad.name = "y"})
    -> (tensor<?xf32> {ad.name = "product"}, tensor<?xf32> {ad.name = "dx"}, tensor<?xf32> {ad.name = "dy"}) {
  %s, %z, %dx, %dy = ad.value_and_grad @product(%x, %y) wrt [0, 1] has_aux
    : (tensor<?xf32>, tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %z, %dx, %dy : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

func.func @check() -> tensor<3xf32> {
  %a = ad.constant dense<[2.0, 3.0, 5.0]> : tensor<3xf32>
  %b = ad.constant dense<[7.0]> : tensor<1xf32>
  %p, %q = ad.barrier %a, %b : tensor<3xf32>, tensor<1xf32>
  %x = tensor.cast %p : tensor<3xf32> to tensor<?xf32>
  %y = tensor.cast %q : tensor<1xf32> to tensor<?xf32>
  %s, %z, %dx, %dy = ad.value_and_grad @product(%x, %y) wrt [0, 1] has_aux
    : (tensor<?xf32>, tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %z3 = tensor.cast %z : tensor<?xf32> to tensor<3xf32>
  %dx3 = tensor.cast %dx : tensor<?xf32> to tensor<3xf32>
  %dy1 = tensor.cast %dy : tensor<?xf32> to tensor<1xf32>
  %product = ad.constant dense<[14.0, 21.0, 35.0]> : tensor<3xf32>
  %seven = ad.constant dense<7.0> : tensor<3xf32>
  %ten = ad.constant dense<10.0> : tensor<1xf32>
  check.expect_eq(%z3, %product) : tensor<3xf32>
  check.expect_eq(%dx3, %seven) : tensor<3xf32>
  check.expect_eq(%dy1, %ten) : tensor<1xf32>
  return %z3 : tensor<3xf32>
}
