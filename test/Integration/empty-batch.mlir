// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A batch without elements, whose axis is the last one of both operands: no elements are contiguous that could be packed. The result has its
// shape and no elements; sums over the batch are zero, also of a batch that is empty in this run alone.
//
// RUN: ad-runner %s --target reference --numerics reproducible --arg a=zeros --arg b=zeros --arg c=normal:1 --arg d=normal:2 --dim c.2=0 --dim d.2=0 --print | FileCheck %s --check-prefixes=CHECK,EMPTY
// RUN: ad-runner %s --target cpu --numerics reproducible --arg a=zeros --arg b=zeros --arg c=normal:1 --arg d=normal:2 --dim c.2=0 --dim d.2=0 --print | FileCheck %s --check-prefixes=CHECK,EMPTY
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --arg a=zeros --arg b=zeros --arg c=normal:1 --arg d=normal:2 --dim c.2=0 --dim d.2=0 --print | FileCheck %s --check-prefixes=CHECK,EMPTY
// RUN: ad-runner %s --target cpu --numerics reproducible --arg a=zeros --arg b=zeros --arg c=arange --arg d=arange --dim c.2=2 --dim d.2=2 --print | FileCheck %s --check-prefixes=CHECK,FULL
// CHECK: y: tensor<0x128x72xf32> =
// CHECK-NEXT: []
// EMPTY: z: tensor<2x3xf32> =
// EMPTY-NEXT: {{^\[\[}}0. 0. 0.]
// EMPTY-NEXT: [0. 0. 0.]]
// EMPTY: w: tensor<0x2x3xf32> =
// EMPTY-NEXT: []
// FULL: z: tensor<2x3xf32> =
// FULL-NEXT: 140. 364. 588.]
// FULL-NEXT: 364. 1100. 1836.]]
// FULL: w: tensor<2x2x3xf32> =

func.func @main(%a: tensor<128x64x0xf32> {ad.name = "a"}, %b: tensor<72x64x0xf32> {ad.name = "b"},
                %c: tensor<2x4x?xf32> {ad.name = "c"}, %d: tensor<3x4x?xf32> {ad.name = "d"})
    -> (tensor<0x128x72xf32> {ad.name = "y"}, tensor<2x3xf32> {ad.name = "z"}, tensor<?x2x3xf32> {ad.name = "w"}) {
  %y = ad.dot %a, %b batch [2] x [2] contract [1] x [1] : (tensor<128x64x0xf32>, tensor<72x64x0xf32>) -> tensor<0x128x72xf32>
  %sum = ad.reduce_sum %y axes [0] : tensor<0x128x72xf32> -> tensor<128x72xf32>
  %zero = ad.constant dense<0.0> : tensor<128x72xf32>
  check.expect_eq(%sum, %zero) : tensor<128x72xf32>
  %w = ad.dot %c, %d batch [2] x [2] contract [1] x [1] : (tensor<2x4x?xf32>, tensor<3x4x?xf32>) -> tensor<?x2x3xf32>
  %z = ad.reduce_sum %w axes [0] : tensor<?x2x3xf32> -> tensor<2x3xf32>
  return %y, %z, %w : tensor<0x128x72xf32>, tensor<2x3xf32>, tensor<?x2x3xf32>
}
