// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The stages one by one are the whole, and each leaves what its contract says.
// RUN: ad-opt %s --ad-to-cpu-frontend -o %t.frontend
// RUN: ad-opt %t.frontend --ad-to-cpu-fusion -o %t.fusion
// RUN: ad-opt %t.fusion --ad-to-cpu-kernels -o %t.kernels
// RUN: ad-opt %t.kernels --ad-to-cpu-code | FileCheck %s --check-prefix=CODE
// RUN: ad-opt %s --ad-to-cpu-frontend | FileCheck %s --check-prefix=FRONTEND
// RUN: ad-opt %t.frontend --ad-to-cpu-fusion | FileCheck %s --check-prefix=FUSION
// RUN: ad-opt %t.fusion --ad-to-cpu-kernels | FileCheck %s --check-prefix=KERNELS
// RUN: ad-opt %s --ad-to-cpu | FileCheck %s --check-prefix=CODE
// RUN: ad-opt %s --ad-to-linalg | FileCheck %s --check-prefix=LINALG

// FRONTEND-NOT: ad.value_and_grad
// FRONTEND: func.func @main
// FRONTEND-NOT: call
// FRONTEND-NOT: ad.softmax
// FRONTEND: ad.exp %{{.+}} {allow = #ad.allow<reorder|mma>}
// FRONTEND-NOT: ad.softmax
// FRONTEND: return

// Dynamic sizes become conditions; reshapes move nothing and need no kernel.
// FUSION: ad.require 4 %{{.+}} "ad.reshape"
// FUSION: ad.fusion {{.+}}kernel = "

// LINALG: ad.reshape %{{.+}} : tensor<?x6xf32> -> tensor<?x2xf32>
// LINALG: linalg.generic
// LINALG-NOT: ad.exp

// KERNELS: ad.kernel
// KERNELS: linalg.generic
// KERNELS: func.func @main
// KERNELS-NEXT: ad.buffer <
// KERNELS-NOT: linalg.generic
// KERNELS: ad.launch {{.*}}into(

// CODE: llvm.func @adrt_entry_main(
// CODE-NOT: {{ ad\.|scf\.|vector\.|linalg\.|memref\.}}
func.func private @loss(%x: tensor<?x2xf32>) -> tensor<f32> {
  %0 = ad.softmax %x axis 1 : tensor<?x2xf32>
  %1 = ad.mul %0, %0 : tensor<?x2xf32>
  %2 = ad.reduce_sum %1 axes [0, 1] : tensor<?x2xf32> -> tensor<f32>
  return %2 : tensor<f32>
}

func.func @main(%x: tensor<?x6xf32>, %n: tensor<?xf32>) -> (tensor<f32>, tensor<?x2xf32>) {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %n, %zero : tensor<?xf32>
  %y = ad.reshape %x(%rows) : tensor<?x6xf32> -> tensor<?x2xf32>
  %loss, %dy = ad.value_and_grad @loss(%y) wrt [0] : (tensor<?x2xf32>) -> (tensor<f32>, tensor<?x2xf32>)
  return %loss, %dy : tensor<f32>, tensor<?x2xf32>
}
