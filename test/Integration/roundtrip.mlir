// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s -o %t.once
// RUN: ad-opt %t.once -o %t.twice
// RUN: cmp %t.once %t.twice
// RUN: ad-opt %s --mlir-print-op-generic -o %t.generic
// RUN: ad-opt %t.generic -o %t.back
// RUN: cmp %t.once %t.back
// RUN: FileCheck %s --input-file=%t.twice

// A program with every operation of the seed (E1 to E15) prints, parses and prints to the same text, through the
// generic form too. Each line below says that the printed text is the written one.

// CHECK: func.func private @elements(%[[X:.+]]: tensor<2x4xf32>, %[[Y:.+]]: tensor<2x4xf32>)
func.func private @elements(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: ad.constant dense<5.000000e-01> : tensor<f32>
  // CHECK: = ad.add %[[X]], %[[Y]] : tensor<2x4xf32>
  // CHECK: = ad.mul %{{.+}}, %{{.+}} : tensor<2x4xf32>, tensor<f32>
  // CHECK: = ad.exp2 %{{.+}} : tensor<2x4xf32>
  // CHECK: = ad.log2 %{{.+}} : tensor<2x4xf32>
  // CHECK: = ad.sin %{{.+}} : tensor<2x4xf32>
  // CHECK: = ad.recip %{{.+}} : tensor<2x4xf32>
  // CHECK: = ad.sqrt %{{.+}} : tensor<2x4xf32>
  %half = ad.constant dense<0.5> : tensor<f32>
  %0 = ad.add %x, %y : tensor<2x4xf32>
  %1 = ad.mul %0, %half : tensor<2x4xf32>, tensor<f32>
  %2 = ad.exp2 %1 : tensor<2x4xf32>
  %3 = ad.log2 %2 : tensor<2x4xf32>
  %4 = ad.sin %3 : tensor<2x4xf32>
  %5 = ad.recip %4 : tensor<2x4xf32>
  %6 = ad.sqrt %5 : tensor<2x4xf32>
  // CHECK: = ad.compare eq %{{.+}}, %{{.+}} : tensor<2x4xf32>
  // CHECK: = ad.compare gt %{{.+}}, %{{.+}} : tensor<2x4xf32>, tensor<f32>
  // CHECK: = ad.compare lt %{{.+}}, %{{.+}} : tensor<2x4xf32>, tensor<f32>
  // CHECK: = ad.compare ge %{{.+}}, %{{.+}} : tensor<2x4xf32>, tensor<f32>
  // CHECK: = ad.compare le %{{.+}}, %{{.+}} : tensor<2x4xf32>, tensor<f32>
  // CHECK: = ad.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>
  // CHECK: = ad.cast %{{.+}} : tensor<2x4xi1> -> tensor<2x4xf32>
  %eq = ad.compare eq %6, %x : tensor<2x4xf32>
  %gt = ad.compare gt %6, %half : tensor<2x4xf32>, tensor<f32>
  %lt = ad.compare lt %6, %half : tensor<2x4xf32>, tensor<f32>
  %ge = ad.compare ge %6, %half : tensor<2x4xf32>, tensor<f32>
  %le = ad.compare le %6, %half : tensor<2x4xf32>, tensor<f32>
  %7 = ad.select %gt, %6, %y : tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>
  %8 = ad.cast %le : tensor<2x4xi1> -> tensor<2x4xf32>
  %9 = ad.add %7, %8 : tensor<2x4xf32>
  return %9 : tensor<2x4xf32>
}

// CHECK: func.func private @shapes(
func.func private @shapes(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %n: index) -> (tensor<5x?xf32>, tensor<2xf32>) {
  // CHECK: = ad.dot %{{.+}}, %{{.+}} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  // CHECK: = ad.reduce_sum %{{.+}} axes [1] : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: = ad.reduce_max %{{.+}} axes [1] keep_dims : tensor<2x3xf32> -> tensor<2x1xf32>
  // CHECK: = ad.broadcast %{{.+}}(%{{.+}}) : tensor<2x1xf32> -> tensor<2x?xf32>
  // CHECK: = ad.reshape %{{.+}} : tensor<2x3xf32> -> tensor<1x6xf32>
  // CHECK: = ad.transpose %{{.+}} [1, 0] : tensor<1x6xf32>
  // CHECK: = ad.slice %{{.+}} [1, 0] strides [2, 1] : tensor<6x1xf32> -> tensor<3x1xf32>
  // CHECK: = ad.concat axis 0 %{{.+}}, %{{.+}} : tensor<2x?xf32>, tensor<3x?xf32>
  // CHECK: = ad.barrier %{{.+}} : tensor<5x?xf32>
  %0 = ad.dot %x, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = ad.reduce_sum %0 axes [1] : tensor<2x3xf32> -> tensor<2xf32>
  %2 = ad.reduce_max %0 axes [1] keep_dims : tensor<2x3xf32> -> tensor<2x1xf32>
  %3 = ad.broadcast %2(%n) : tensor<2x1xf32> -> tensor<2x?xf32>
  %4 = ad.reshape %0 : tensor<2x3xf32> -> tensor<1x6xf32>
  %5 = ad.transpose %4 [1, 0] : tensor<1x6xf32>
  %6 = ad.slice %5 [1, 0] strides [2, 1] : tensor<6x1xf32> -> tensor<3x1xf32>
  %7 = ad.broadcast %6(%n) : tensor<3x1xf32> -> tensor<3x?xf32>
  %8 = ad.concat axis 0 %3, %7 : tensor<2x?xf32>, tensor<3x?xf32>
  %9 = ad.barrier %8 : tensor<5x?xf32>
  return %9, %1 : tensor<5x?xf32>, tensor<2xf32>
}

// CHECK: func.func @main(%{{.+}}: tensor<4xf32> {ad.donated = 0 : i64, ad.name = "w", ad.parameter})
func.func @main(%w: tensor<4xf32> {ad.donated = 0, ad.name = "w", ad.parameter}) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 1000 : index
  // CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%{{.+}} = %{{.+}}) -> (tensor<4xf32>) {
  // CHECK: = ad.feed "x" : tensor<4xf32>
  // CHECK: scf.yield %{{.+}} : tensor<4xf32>
  // CHECK: ad.receive "saved"(%{{.+}}, %{{.+}}) : tensor<4xf32>, tensor<4xf32>
  %r = scf.for %i = %zero to %steps step %one iter_args(%p = %w) -> tensor<4xf32> {
    %x = ad.feed "x" : tensor<4xf32>
    %q = ad.add %p, %x : tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  }
  ad.receive "saved"(%r, %w) : tensor<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}
