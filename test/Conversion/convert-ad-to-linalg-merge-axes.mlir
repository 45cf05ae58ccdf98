// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise kernels whose last axis is short have longer rows where all operands have, or repeat, adjacent axes alike.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg | FileCheck %s
// RUN: ad-runner %s --entry mixed --arg x=normal:1 --arg y=normal:2 --arg z=normal:3 --print --target reference > %t.reference
// RUN: ad-runner %s --entry mixed --arg x=normal:1 --arg y=normal:2 --arg z=normal:3 --print > %t.cpu
// RUN: ad-runner %s --entry mixed --arg x=normal:1 --arg y=normal:2 --arg z=normal:3 --print --target gpu-sim > %t.gpu
// RUN: diff %t.reference %t.cpu
// RUN: diff %t.reference %t.gpu
// RUN: ad-runner %s --entry open --dim x.0=11 --arg x=normal:1 --arg y=normal:2 --print --target reference > %t.reference
// RUN: ad-runner %s --entry open --dim x.0=11 --arg x=normal:1 --arg y=normal:2 --print | diff %t.reference -
// RUN: ad-runner %s --entry open --dim x.0=11 --arg x=normal:1 --arg y=normal:2 --print --target gpu-sim | diff %t.reference -
// RUN: ad-runner %s --entry numbers --arg x=normal:1 --arg y=normal:2 --arg s=normal:3 --print --target reference > %t.reference
// RUN: ad-runner %s --entry numbers --arg x=normal:1 --arg y=normal:2 --arg s=normal:3 --print --threads 2 | diff %t.reference -
// RUN: ad-runner %s --entry numbers --arg x=normal:1 --arg y=normal:2 --arg s=normal:3 --print --target gpu-sim | diff %t.reference -
// RUN: ad-runner %s --entry positions --arg y=normal:1 --print --target reference > %t.reference
// RUN: ad-runner %s --entry positions --arg y=normal:1 --print | diff %t.reference -
// RUN: ad-runner %s --entry positions --arg y=normal:1 --print --target gpu-sim | diff %t.reference -

// CHECK-LABEL: func.func @repeated_rows
// CHECK: %[[X:.+]] = ad.reshape %{{.+}} : tensor<32x9x3xf32> -> tensor<32x27xf32>
// CHECK: %[[Y:.+]] = ad.reshape %{{.+}} : tensor<9x3xf32> -> tensor<1x27xf32>
// CHECK: %[[SUM:.+]] = ad.fusion {{.*}} (tensor<32x27xf32>, tensor<1x27xf32>) -> tensor<32x27xf32>
// CHECK: ad.reshape %[[SUM]] : tensor<32x27xf32> -> tensor<32x9x3xf32>
func.func @repeated_rows(%x: tensor<32x9x3xf32>, %y: tensor<9x3xf32>) -> tensor<32x9x3xf32> {
  %sum = ad.add %x, %y : tensor<32x9x3xf32>, tensor<9x3xf32>
  return %sum : tensor<32x9x3xf32>
}

// One axis is repeated in between, axes of size 1 do not count, and numbers are repeated along all axes.
// CHECK-LABEL: func.func @mixed
// CHECK: ad.fusion {{.*}} (tensor<10x6x10xf32>, tensor<10x1x10xf32>, tensor<1x6x10xf32>) -> (tensor<10x6x10xf32>, tensor<10x6x10xi1>)
// CHECK: ad.reshape %{{.+}} : tensor<10x6x10xf32> -> tensor<2x5x6x1x5x2xf32>
// CHECK: ad.reshape %{{.+}} : tensor<10x6x10xi1> -> tensor<2x5x6x1x5x2xi1>
func.func @mixed(%x: tensor<2x5x6x1x5x2xf32> {ad.name = "x"}, %y: tensor<2x5x1x1x5x2xf32> {ad.name = "y"},
                 %z: tensor<6x1x5x2xf32> {ad.name = "z"}) -> (tensor<2x5x6x1x5x2xf32>, tensor<2x5x6x1x5x2xi1>) {
  %half = ad.constant dense<0.5> : tensor<1x1xf32>
  %a = ad.exp %y : tensor<2x5x1x1x5x2xf32>
  %b = ad.mul %x, %a : tensor<2x5x6x1x5x2xf32>, tensor<2x5x1x1x5x2xf32>
  %c = ad.sub %b, %z : tensor<2x5x6x1x5x2xf32>, tensor<6x1x5x2xf32>
  %d = ad.add %c, %half : tensor<2x5x6x1x5x2xf32>, tensor<1x1xf32>
  %e = ad.compare lt %d, %x : tensor<2x5x6x1x5x2xf32>
  return %d, %e : tensor<2x5x6x1x5x2xf32>, tensor<2x5x6x1x5x2xi1>
}

// Nothing to gain: elements follow each other already, rows are long, or the last axes differ.
// CHECK-LABEL: func.func @as_they_are
// CHECK-NOT: ad.reshape
// CHECK: return
func.func @as_they_are(%x: tensor<32x9x3xf32>, %y: tensor<4x64xf32>, %z: tensor<64xf32>, %w: tensor<3xf32>)
    -> (tensor<32x9x3xf32>, tensor<4x64xf32>, tensor<32x9x3xf32>) {
  %a = ad.add %x, %x : tensor<32x9x3xf32>
  %b = ad.add %y, %z : tensor<4x64xf32>, tensor<64xf32>
  %c = ad.mul %x, %w : tensor<32x9x3xf32>, tensor<3xf32>
  return %a, %b, %c : tensor<32x9x3xf32>, tensor<4x64xf32>, tensor<32x9x3xf32>
}

// An axis of dynamic size stays.
// CHECK-LABEL: func.func @open
// CHECK: %[[X:.+]] = ad.reshape %{{.+}}(%{{.+}}) : tensor<?x9x3xf32> -> tensor<?x27xf32>
// CHECK: %[[SUM:.+]] = ad.fusion {{.*}} (tensor<?x27xf32>, tensor<1x27xf32>, index) -> tensor<?x27xf32>
// CHECK: %[[SIZE:.+]] = tensor.dim %[[SUM]]
// CHECK: ad.reshape %[[SUM]](%[[SIZE]]) : tensor<?x27xf32> -> tensor<?x9x3xf32>
func.func @open(%x: tensor<?x9x3xf32> {ad.name = "x"}, %y: tensor<9x3xf32> {ad.name = "y"}) -> tensor<?x9x3xf32> {
  %sum = ad.add %x, %y : tensor<?x9x3xf32>, tensor<9x3xf32>
  return %sum : tensor<?x9x3xf32>
}

// Elements follow each other, whatever their number.
// CHECK-LABEL: func.func @open_rows
// CHECK-NOT: ad.reshape
// CHECK: return
func.func @open_rows(%x: tensor<?x9x3xf32>) -> tensor<?x9x3xf32> {
  %sum = ad.add %x, %x : tensor<?x9x3xf32>
  return %sum : tensor<?x9x3xf32>
}

// Constants of several numbers, and scalars, together with repeated rows.
// CHECK-LABEL: func.func @numbers
// CHECK: ad.fusion {{.*}} -> tensor<8x6xf32>
func.func @numbers(%x: tensor<8x2x3xf32> {ad.name = "x"}, %y: tensor<2x3xf32> {ad.name = "y"},
                   %s: tensor<f32> {ad.name = "s"}) -> tensor<8x2x3xf32> {
  %table = ad.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %a = ad.mul %x, %table : tensor<8x2x3xf32>, tensor<2x3xf32>
  %b = ad.add %a, %y : tensor<8x2x3xf32>, tensor<2x3xf32>
  %c = ad.sub %b, %s : tensor<8x2x3xf32>, tensor<f32>
  return %c : tensor<8x2x3xf32>
}

// The numbers of an iota follow one axis: it is not merged.
// CHECK-LABEL: func.func @positions
// CHECK-NOT: ad.reshape
// CHECK: return
func.func @positions(%y: tensor<6x2xf32> {ad.name = "y"}) -> tensor<8x6x2xf32> {
  %position = ad.iota axis 1 : tensor<8x6x2xf32>
  %sum = ad.add %position, %y : tensor<8x6x2xf32>, tensor<6x2xf32>
  return %sum : tensor<8x6x2xf32>
}
