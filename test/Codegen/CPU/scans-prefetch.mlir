// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running sums along rows read a cache line of 16 rows in turn, which the hardware prefetcher does not follow. From
// beyond the last-level cache, 16 lines of one of the rows are prefetched at each step.
//
// RUN: ad-opt %s --ad-to-cpu | FileCheck %s

// CHECK-LABEL: llvm.func internal @reduce_0_0$range
// CHECK-NOT: llvm.intr.prefetch
// CHECK-LABEL: llvm.func internal @reduce_0$range
// CHECK-COUNT-16: "llvm.intr.prefetch"({{.+}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-NOT: llvm.intr.prefetch
// CHECK: llvm.shufflevector
func.func @memory(%a: tensor<1000x4000xf32>) -> tensor<1000x4000xf32> {
  %0 = ad.cumsum %a axis 1 : tensor<1000x4000xf32>
  return %0 : tensor<1000x4000xf32>
}

func.func @cache(%a: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %0 = ad.cumsum %a axis 1 : tensor<1000x1000xf32>
  return %0 : tensor<1000x1000xf32>
}
