// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-autocast=policy=bf16 | FileCheck %s
// RUN: ad-opt %s --ad-autocast=policy=f8 | FileCheck %s --check-prefix=BYTES

// Queries, keys, values and the mask are narrow, the logarithms of the sums stay in f32; the derivative is made after
// it, of the same types.
// CHECK-LABEL: func.func @attention(
// CHECK:       %{{.+}}, %[[L:.+]] = ad.attention {{.*}} : tensor<1x2x5x8xbf16>, tensor<1x2x5x8xbf16>, tensor<1x2x5x8xbf16>, tensor<1x1x5x5xbf16>
// CHECK-NOT:   ad.cast %[[L]]
// CHECK:       return %{{.+}}, %[[L]] : tensor<1x2x5x8xf32>, tensor<1x2x5xf32>
// BYTES-LABEL: func.func @attention(
// BYTES-NOT:   ad.cast
func.func @attention(%x: tensor<1x2x5x8xf32>, %m: tensor<1x1x5x5xf32>) -> (tensor<1x2x5x8xf32>, tensor<1x2x5xf32>) {
  %y, %l = ad.attention %x, %x, %x mask %m
      : tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x1x5x5xf32>
  return %y, %l : tensor<1x2x5x8xf32>, tensor<1x2x5xf32>
}

// One that is written in bf16 stays so.
// CHECK-LABEL: func.func @narrow(
// CHECK-NOT:   ad.cast
// CHECK:       return
func.func @narrow(%x: tensor<1x2x5x8xbf16>) -> tensor<1x2x5x8xbf16> {
  %y, %l = ad.attention %x, %x, %x : tensor<1x2x5x8xbf16>, tensor<1x2x5x8xbf16>, tensor<1x2x5x8xbf16>
  return %y : tensor<1x2x5x8xbf16>
}
