// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Donated arguments are overwritten on the CPU, and no result shows it: repeated runs start from the same argument, gradients are checked
// at one point, and a loss next to the update reads the old value.
// RUN: ad-runner %s --arg w=arange --out-dir %t.cpu --repeat 3 --warmup 1
// RUN: ad-runner %s --arg w=arange --out-dir %t.reference --target reference
// RUN: cmp %t.cpu/w.npy %t.reference/w.npy
// RUN: cmp %t.cpu/loss.npy %t.reference/loss.npy
// RUN: %python %S/Inputs/npy.py show %t.cpu/w.npy | FileCheck %s
// CHECK: <f4 (3,) [-0.0, -2.0, -4.0]
// RUN: ad-runner %s --arg w=arange --check-gradients
func.func @main(%w: tensor<3xf32> {ad.name = "w", ad.donated = 1}) -> (tensor<f32> {ad.name = "loss"}, tensor<3xf32> {ad.name = "w"}) {
  %two = ad.constant dense<2.0> : tensor<3xf32>
  %scaled = ad.mul %w, %two : tensor<3xf32>
  %new = ad.neg %scaled : tensor<3xf32>
  %square = ad.mul %w, %w : tensor<3xf32>
  %loss = ad.reduce_sum %square axes [0] : tensor<3xf32> -> tensor<f32>
  return %loss, %new : tensor<f32>, tensor<3xf32>
}
