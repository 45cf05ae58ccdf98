// RUN: ad-opt %s --ad-decompose | FileCheck %s

// CHECK-LABEL: @adjacent
func.func @adjacent(%x: tensor<2x3x4xf32>, %g: tensor<2x3x5xf32>) -> tensor<4x5xf32> {
  // CHECK: %[[X:.+]] = ad.reshape %{{.+}} : tensor<2x3x4xf32> -> tensor<6x4xf32>
  // CHECK: %[[G:.+]] = ad.reshape %{{.+}} : tensor<2x3x5xf32> -> tensor<6x5xf32>
  // CHECK: ad.dot %[[X]], %[[G]] contract [0] x [0] : (tensor<6x4xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %y = ad.dot %x, %g contract [0, 1] x [0, 1] : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// Later batch axes are renumbered, the order stays as it is written.
// CHECK-LABEL: @three_and_a_batch_axis
func.func @three_and_a_batch_axis(%x: tensor<2x3x4x7xf32>, %g: tensor<7x2x3x4x5xf32>) -> tensor<7x5xf32> {
  // CHECK: ad.dot %{{.+}}, %{{.+}} batch [1] x [0] contract [0] x [1] {order = #ad.order<block = 8>} : (tensor<24x7xf32>, tensor<7x24x5xf32>) -> tensor<7x5xf32>
  %y = ad.dot %x, %g batch [3] x [0] contract [0, 1, 2] x [1, 2, 3] {order = #ad.order<block = 8>} : (tensor<2x3x4x7xf32>, tensor<7x2x3x4x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// Two of three axes are adjacent.
// CHECK-LABEL: @some_of_them
func.func @some_of_them(%x: tensor<2x3x4xf32>, %g: tensor<2x5x3x4xf32>) -> tensor<5xf32> {
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [0, 1] x [0, 2] : (tensor<2x12xf32>, tensor<2x5x12xf32>) -> tensor<5xf32>
  %y = ad.dot %x, %g batch [] x [] contract [0, 1, 2] x [0, 2, 3] : (tensor<2x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// The last listed axis is the fastest: listed the other way round, the order would be another one.
// CHECK-LABEL: @other_order
func.func @other_order(%x: tensor<2x3x4xf32>, %g: tensor<2x3x5xf32>) -> tensor<4x5xf32> {
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [1, 0] x [1, 0]
  %y = ad.dot %x, %g contract [1, 0] x [1, 0] : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// Sizes that come from one value are merged at run time.
// CHECK-LABEL: @same_unknown_size
func.func @same_unknown_size(%x: tensor<?x3x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[N:.+]] = tensor.dim
  // CHECK: %[[ALL:.+]] = arith.muli %[[N]]
  // CHECK: ad.reshape %{{.+}}(%[[ALL]]) : tensor<?x3x4xf32> -> tensor<?x4xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [0] x [0] : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
  %y = ad.dot %x, %x contract [0, 1] x [0, 1] : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// 2 x 6 and 3 x 4 have as many elements, and are an error all the same: each axis is checked before they are merged.
// CHECK-LABEL: @perhaps_other_sizes(
func.func @perhaps_other_sizes(%x: tensor<?x?x4xf32>, %g: tensor<?x?x5xf32>) -> tensor<4x5xf32> {
  // CHECK: %[[M:.+]] = tensor.dim %{{.+}}, %c0
  // CHECK: %[[N:.+]] = tensor.dim %{{.+}}, %c0
  // CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[M]], %[[N]]
  // CHECK: ad.require 1 %[[SAME]](%c0{{[^ ,]*}}, %[[M]], %[[N]]) "ad.dot"
  // CHECK: ad.require 1 %{{.+}}(%c1{{[^ ,]*}}, %{{.+}}, %{{.+}}) "ad.dot"
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [0] x [0] : (tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<4x5xf32>
  %y = ad.dot %x, %g contract [0, 1] x [0, 1] : (tensor<?x?x4xf32>, tensor<?x?x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// No number has 64 bits enough for the product.
// CHECK-LABEL: @huge
func.func @huge(%x: tensor<8589934592x8589934592x0xf32>, %g: tensor<8589934592x8589934592x0xf32>) -> tensor<0x0xf32> {
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [0, 1] x [0, 1]
  %y = ad.dot %x, %g contract [0, 1] x [0, 1] : (tensor<8589934592x8589934592x0xf32>, tensor<8589934592x8589934592x0xf32>) -> tensor<0x0xf32>
  return %y : tensor<0x0xf32>
}

// Sizes that are constants, but not in the type: the result of the contraction leaves them open too.
// CHECK-LABEL: @open_sizes
func.func @open_sizes(%x: tensor<5x2x3xf32>, %g: tensor<5x2x4xf32>) -> tensor<?x?xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %a = ad.broadcast %x(%two, %three) : tensor<5x2x3xf32> -> tensor<5x?x?xf32>
  %b = ad.broadcast %g(%two, %four) : tensor<5x2x4xf32> -> tensor<5x?x?xf32>
  // CHECK: %[[A:.+]] = ad.reshape %{{.+}}(%c10{{.*}}, %c3{{.*}}) : tensor<5x?x?xf32> -> tensor<?x?xf32>
  // CHECK: %[[B:.+]] = ad.reshape %{{.+}}(%c10{{.*}}, %c4{{.*}}) : tensor<5x?x?xf32> -> tensor<?x?xf32>
  // CHECK: ad.dot %[[A]], %[[B]] contract [0] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = ad.dot %a, %b batch [] x [] contract [0, 1] x [0, 1] : (tensor<5x?x?xf32>, tensor<5x?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Contracted axes that are apart: the operand is transposed, if its elements are read often.
// CHECK-LABEL: @heads
func.func @heads(%x: tensor<2x4x3x8xf32>, %w: tensor<4x8x16xf32>) -> tensor<2x3x16xf32> {
  // CHECK: %[[T:.+]] = ad.transpose %{{.+}} [0, 2, 1, 3] : tensor<2x4x3x8xf32>
  // CHECK: %[[X:.+]] = ad.reshape %[[T]] : tensor<2x3x4x8xf32> -> tensor<2x3x32xf32>
  // CHECK: %[[W:.+]] = ad.reshape %{{.+}} : tensor<4x8x16xf32> -> tensor<32x16xf32>
  // CHECK: ad.dot %[[X]], %[[W]] : (tensor<2x3x32xf32>, tensor<32x16xf32>) -> tensor<2x3x16xf32>
  %y = ad.dot %x, %w contract [1, 3] x [0, 1] : (tensor<2x4x3x8xf32>, tensor<4x8x16xf32>) -> tensor<2x3x16xf32>
  return %y : tensor<2x3x16xf32>
}

// Both operands, with batch axes that move; the order stays as it is listed.
// CHECK-LABEL: @both
func.func @both(%x: tensor<8x5x16x4xf32>, %w: tensor<4x20x5x8xf32>) -> tensor<5x16x20xf32> {
  // CHECK-DAG: %[[X:.+]] = ad.transpose %{{.+}} [1, 2, 3, 0] : tensor<8x5x16x4xf32>
  // CHECK-DAG: %[[W:.+]] = ad.transpose %{{.+}} [1, 2, 0, 3] : tensor<4x20x5x8xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} batch [0] x [1] contract [2] x [2] {order = #ad.order<block = 8>} : (tensor<5x16x32xf32>, tensor<20x5x32xf32>) -> tensor<5x16x20xf32>
  %y = ad.dot %x, %w batch [1] x [2] contract [3, 0] x [0, 3] {order = #ad.order<block = 8>} : (tensor<8x5x16x4xf32>, tensor<4x20x5x8xf32>) -> tensor<5x16x20xf32>
  return %y : tensor<5x16x20xf32>
}

// A transposition would take longer than the product of few columns.
// CHECK-LABEL: @few_columns
func.func @few_columns(%x: tensor<2x4x3x8xf32>, %w: tensor<4x8x15xf32>) -> tensor<2x3x15xf32> {
  // CHECK-NOT: ad.transpose
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [1, 3] x [0, 1]
  %y = ad.dot %x, %w contract [1, 3] x [0, 1] : (tensor<2x4x3x8xf32>, tensor<4x8x15xf32>) -> tensor<2x3x15xf32>
  return %y : tensor<2x3x15xf32>
}

// Before an operand is transposed its axes have the numbers that the error names.
// CHECK-LABEL: @perhaps_other_sizes_apart
func.func @perhaps_other_sizes_apart(%x: tensor<?x16x?xf32>, %w: tensor<?x?x16xf32>) -> tensor<16x16xf32> {
  // CHECK: ad.require 1 %{{.+}}(%c0{{[^ ,]*}}, %{{.+}}, %{{.+}}) "ad.dot"
  // CHECK: ad.require 1 %{{.+}}(%c1{{[^ ,]*}}, %{{.+}}, %{{.+}}) "ad.dot"
  // CHECK: ad.transpose %{{.+}} [1, 0, 2] : tensor<?x16x?xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} : (tensor<16x?xf32>, tensor<?x16xf32>) -> tensor<16x16xf32>
  %y = ad.dot %x, %w contract [0, 2] x [0, 1] : (tensor<?x16x?xf32>, tensor<?x?x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
