// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Adjacent axes that all values have or repeat alike become one: those of contractions, and those of elementwise kernels
// whose last axis is short. test/Integration/contraction_axes_test.py compares the bits of random contractions.
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
// CHECK-DAG: %[[X:.+]] = ad.reshape %{{.+}} : tensor<32x9x3xf32> -> tensor<32x27xf32>
// CHECK-DAG: %[[Y:.+]] = ad.reshape %{{.+}} : tensor<9x3xf32> -> tensor<27xf32>
// CHECK: %[[SUM:.+]] = ad.fusion {{.*}} (tensor<32x27xf32>, tensor<27xf32>) -> tensor<32x27xf32>
// CHECK: ad.reshape %[[SUM]] : tensor<32x27xf32> -> tensor<32x9x3xf32>
func.func @repeated_rows(%x: tensor<32x9x3xf32>, %y: tensor<9x3xf32>) -> tensor<32x9x3xf32> {
  %sum = ad.add %x, %y : tensor<32x9x3xf32>, tensor<9x3xf32>
  return %sum : tensor<32x9x3xf32>
}

// One axis is repeated in between, axes of size 1 do not count, and numbers are repeated along all axes.
// CHECK-LABEL: func.func @mixed
// CHECK: ad.fusion {{.*}} (tensor<10x6x10xf32>, tensor<10x1x10xf32>, tensor<6x10xf32>) -> (tensor<10x6x10xf32>, tensor<10x6x10xi1>)
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
// CHECK: %[[SUM:.+]] = ad.fusion {{.*}} (tensor<?x27xf32>, tensor<27xf32>, index) -> tensor<?x27xf32>
// CHECK: %[[SIZE:.+]] = tensor.dim %arg0
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

// The free axes of each operand are one axis, and those of a bias too. The contracted ones are merged before.
// CHECK-LABEL: func.func @projection
// CHECK: ad.fusion dot {{.*}} : (tensor<6x16xf32>, tensor<16x32xf32>, tensor<32xf32>) -> tensor<6x32xf32> {
// CHECK: ad.reshape %{{.+}} : tensor<6x32xf32> -> tensor<2x3x4x8xf32>
func.func @projection(%x: tensor<2x3x16xf32>, %w: tensor<16x4x8xf32>, %b: tensor<4x8xf32>) -> tensor<2x3x4x8xf32> {
  %0 = ad.dot %x, %w contract [2] x [0] : (tensor<2x3x16xf32>, tensor<16x4x8xf32>) -> tensor<2x3x4x8xf32>
  %1 = ad.add %0, %b : tensor<2x3x4x8xf32>, tensor<4x8xf32>
  %2 = ad.gelu %1 : tensor<2x3x4x8xf32>
  return %2 : tensor<2x3x4x8xf32>
}

// A bias repeats along one of the axes: they stay. The rows are one axis.
// CHECK-LABEL: func.func @bias_of_one_axis
// CHECK: ad.fusion dot {{.*}} : (tensor<6x16xf32>, tensor<16x4x8xf32>, tensor<8xf32>) -> tensor<6x4x8xf32> {
func.func @bias_of_one_axis(%x: tensor<2x3x16xf32>, %w: tensor<16x4x8xf32>, %b: tensor<8xf32>) -> tensor<2x3x4x8xf32> {
  %0 = ad.dot %x, %w contract [2] x [0] : (tensor<2x3x16xf32>, tensor<16x4x8xf32>) -> tensor<2x3x4x8xf32>
  %1 = ad.add %0, %b : tensor<2x3x4x8xf32>, tensor<8xf32>
  return %1 : tensor<2x3x4x8xf32>
}

// Batch axes are one, free axes that are not adjacent in their operand stay, and lists of axes have the new numbers.
// CHECK-LABEL: func.func @apart
// CHECK: ad.fusion dot {{.*}} : (tensor<5x16x6xf32>, tensor<4x6x16x8xf32>) -> tensor<6x5x4x8xf32> {
// CHECK: linalg.generic {indexing_maps = [#[[A:.+]], #[[B:.+]], #{{.+}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
func.func @apart(%x: tensor<5x16x2x3xf32>, %y: tensor<4x2x3x16x8xf32>) -> tensor<2x3x5x4x8xf32> {
  %0 = ad.dot %x, %y batch [2, 3] x [1, 2] contract [1] x [3] : (tensor<5x16x2x3xf32>, tensor<4x2x3x16x8xf32>) -> tensor<2x3x5x4x8xf32>
  return %0 : tensor<2x3x5x4x8xf32>
}

// Dynamic sizes are multiplied by each other, and not by static ones: the memory plan counts elements of their product.
// CHECK-LABEL: func.func @open_rows_of_product
// CHECK: ad.fusion dot {{.*}} : (tensor<?x3x16xf32>, tensor<16x32xf32>, tensor<32xf32>, index, index) -> tensor<?x3x32xf32> {
// CHECK: ad.reshape %{{.+}}(%[[B:.+]], %[[T:.+]]) : tensor<?x3x32xf32> -> tensor<?x?x3x4x8xf32>
func.func @open_rows_of_product(%x: tensor<?x?x3x16xf32>, %w: tensor<16x4x8xf32>, %b: tensor<4x8xf32>) -> tensor<?x?x3x4x8xf32> {
  %0 = ad.dot %x, %w contract [3] x [0] : (tensor<?x?x3x16xf32>, tensor<16x4x8xf32>) -> tensor<?x?x3x4x8xf32>
  %1 = ad.add %0, %b : tensor<?x?x3x4x8xf32>, tensor<4x8xf32>
  return %1 : tensor<?x?x3x4x8xf32>
}

// Each product of one operand by itself keeps its own numbers of axes, and a contracted axis keeps its place in the order.
// CHECK-LABEL: func.func @by_itself
// CHECK: ad.fusion dot {{.*}} : (tensor<6x16xf32>) -> tensor<6x6xf32> {
// CHECK-LABEL: func.func @order_of_axes
// CHECK: ad.fusion dot {{.*}} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32> {
func.func @by_itself(%x: tensor<2x3x16xf32>) -> tensor<2x3x2x3xf32> {
  %0 = ad.dot %x, %x contract [2] x [2] : (tensor<2x3x16xf32>, tensor<2x3x16xf32>) -> tensor<2x3x2x3xf32>
  return %0 : tensor<2x3x2x3xf32>
}
func.func @order_of_axes(%x: tensor<2x3x4xf32>, %y: tensor<2x3x5xf32>) -> tensor<4x5xf32> {
  %0 = ad.dot %x, %y contract [1, 0] x [1, 0] : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// No number has 64 bits enough for the product.
// CHECK-LABEL: func.func @huge
// CHECK: ad.fusion dot {{.*}} -> tensor<8589934592x8589934592x0xf32> {
func.func @huge(%x: tensor<8589934592x8589934592x0xf32>, %y: tensor<0x0xf32>) -> tensor<8589934592x8589934592x0xf32> {
  %0 = ad.dot %x, %y contract [2] x [0] : (tensor<8589934592x8589934592x0xf32>, tensor<0x0xf32>) -> tensor<8589934592x8589934592x0xf32>
  return %0 : tensor<8589934592x8589934592x0xf32>
}
