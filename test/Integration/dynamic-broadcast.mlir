// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: not ad-runner --target reference %s --arg x=arange --arg y=arange --dim x.0=2 --dim y.0=3 2>&1 | FileCheck %s
// RUN: not ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=2 --dim y.0=3 2>&1 | FileCheck %s
// RUN: ad-runner --target reference %s --arg x=arange --arg y=arange --dim x.0=1 --dim y.0=3 --print | FileCheck %s --check-prefix=LEFT
// RUN: ad-runner --target reference %s --arg x=arange --arg y=arange --dim x.0=3 --dim y.0=1 --print | FileCheck %s --check-prefix=RIGHT
// RUN: ad-runner --target reference %s --arg x=arange --arg y=arange --dim x.0=3 --dim y.0=3 --print | FileCheck %s --check-prefix=BOTH
// RUN: ad-runner --target reference %s --arg x=arange --arg y=arange --dim x.0=1 --dim y.0=1 --print | FileCheck %s --check-prefix=ONE
// RUN: ad-runner --target reference %s --arg x=arange --arg y=arange --dim x.0=0 --dim y.0=1 --print | FileCheck %s --check-prefix=EMPTY
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=1 --dim y.0=3 --print | FileCheck %s --check-prefix=LEFT
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=3 --dim y.0=1 --print | FileCheck %s --check-prefix=RIGHT
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=3 --dim y.0=3 --print | FileCheck %s --check-prefix=BOTH
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=1 --dim y.0=1 --print | FileCheck %s --check-prefix=ONE
// RUN: ad-runner --target cpu %s --arg x=arange --arg y=arange --dim x.0=0 --dim y.0=1 --print | FileCheck %s --check-prefix=EMPTY

// Dynamic sizes broadcast like NumPy, with gradients; sizes 2 and 3 are a located error.
// Arguments count from 0: the factors are x + 2 and y + 5.
// CHECK: dynamic-broadcast.mlir:[[#@LINE+21]]:{{[0-9]+}}: error: 'ad.mul' op broadcast: dimension 0 has sizes 2 and 3, neither is 1
// LEFT: product: tensor<3xf32> = [10. 12. 14.]
// LEFT: dx: tensor<1xf32> = [18.]
// LEFT: dy: tensor<3xf32> = [2. 2. 2.]
// RIGHT: product: tensor<3xf32> = [10. 15. 20.]
// RIGHT: dx: tensor<3xf32> = [5. 5. 5.]
// RIGHT: dy: tensor<1xf32> = [9.]
// BOTH: product: tensor<3xf32> = [10. 18. 28.]
// BOTH: dx: tensor<3xf32> = [5. 6. 7.]
// BOTH: dy: tensor<3xf32> = [2. 3. 4.]
// ONE: product: tensor<1xf32> = [10.]
// ONE: dx: tensor<1xf32> = [5.]
// ONE: dy: tensor<1xf32> = [2.]
// EMPTY: product: tensor<0xf32> = []
// EMPTY: dx: tensor<0xf32> = []
// EMPTY: dy: tensor<1xf32> = [0.]
func.func private @product(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>) {
  %two = ad.constant dense<2.0> : tensor<f32>
  %five = ad.constant dense<5.0> : tensor<f32>
  %a = ad.add %x, %two : tensor<?xf32>, tensor<f32>
  %b = ad.add %y, %five : tensor<?xf32>, tensor<f32>
  %z = ad.mul %a, %b : tensor<?xf32>
  %s = ad.reduce_sum %z axes [0] : tensor<?xf32> -> tensor<f32>
  return %s, %z : tensor<f32>, tensor<?xf32>
}

func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %y: tensor<?xf32> {ad.name = "y"})
    -> (tensor<?xf32> {ad.name = "product"}, tensor<?xf32> {ad.name = "dx"}, tensor<?xf32> {ad.name = "dy"}) {
  %s, %z, %dx, %dy = ad.value_and_grad @product(%x, %y) wrt [0, 1] has_aux
    : (tensor<?xf32>, tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %z, %dx, %dy : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
