// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-insert-shape-checks | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-insert-shape-checks | FileCheck %s --check-prefix=WRITTEN

// What types decide has no condition.
// CHECK-LABEL: func.func @static
// CHECK-NOT: ad.require
// CHECK: return
func.func @static(%x: tensor<1x3xf32>, %y: tensor<3x2xf32>) -> (tensor<4x3xf32>, tensor<1x2xf32>) {
  %a = ad.broadcast %x : tensor<1x3xf32> -> tensor<4x3xf32>
  %b = ad.dot %x, %y : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
  return %a, %b : tensor<4x3xf32>, tensor<1x2xf32>
}

// A size is 1 or the wanted one.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>, %[[N:.+]]: index
func.func @broadcast(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // CHECK: %[[HAVE:.+]] = tensor.dim %[[X]]
  // CHECK: %[[ONE:.+]] = arith.cmpi eq, %[[HAVE]], %{{.+}} : index
  // CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[HAVE]], %[[N]] : index
  // CHECK: %[[FITS:.+]] = arith.ori %[[ONE]], %[[SAME]] : i1
  // CHECK: ad.require 0 %[[FITS]](%{{.+}}, %[[HAVE]], %[[N]]) "ad.broadcast"
  // CHECK-NEXT: ad.broadcast
  %y = ad.broadcast %x(%n) : tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// The condition of a broadcast that ad-set-numerics made names the written operation, with the sizes in the order of its operands.
// WRITTEN-LABEL: func.func @written
// WRITTEN-SAME: %[[X:.+]]: tensor<?xf32>, %[[Y:.+]]: tensor<?xf32>
func.func @written(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // WRITTEN-DAG: %[[P:.+]] = tensor.dim %[[X]]
  // WRITTEN-DAG: %[[COMMON:.+]] = arith.select
  // WRITTEN: %[[HAVE_X:.+]] = tensor.dim %[[X]]
  // WRITTEN: ad.require 0 %{{.+}}(%{{.+}}, %[[HAVE_X]], %[[COMMON]]) "ad.add"
  // WRITTEN: %[[HAVE_Y:.+]] = tensor.dim %[[Y]]
  // WRITTEN: ad.require 0 %{{.+}}(%{{.+}}, %[[COMMON]], %[[HAVE_Y]]) "ad.add"
  // WRITTEN: ad.add
  %z = ad.add %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}

// Equal sizes of what is contracted; nothing for what a type fixes on both sides.
// CHECK-LABEL: func.func @dot
func.func @dot(%x: tensor<4x?xf32>, %y: tensor<?x2xf32>) -> tensor<4x2xf32> {
  // CHECK-COUNT-1: ad.require 1 %{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}) "ad.dot"
  // CHECK-NEXT: ad.dot
  %z = ad.dot %x, %y : (tensor<4x?xf32>, tensor<?x2xf32>) -> tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}

// The result has as many elements as the operand, and no negative size.
// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<?x6xf32>, %n: index) -> tensor<?x2xf32> {
  // CHECK: ad.require 3 %{{.+}}(%{{.+}}, %{{.+}}) "ad.reshape"
  // CHECK: ad.require 4 %{{.+}}(%{{.+}}, %{{.+}}) "ad.reshape"
  // CHECK-NEXT: ad.reshape
  %y = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// The window is inside the tensor.
// CHECK-LABEL: func.func @dynamic_slice
func.func @dynamic_slice(%x: tensor<8xf32>, %i: index) -> tensor<3xf32> {
  // CHECK: ad.require 2 %{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}) "ad.dynamic_slice"
  // CHECK-NEXT: ad.dynamic_slice
  %y = ad.dynamic_slice %x[%i] : tensor<8xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// What a cast claims beyond what is known; a cast that forgets a size claims nothing.
// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<?x4x?xf32>) -> tensor<3x?x?xf32> {
  // CHECK: %[[SIZE:.*]] = tensor.dim %{{.+}}, %{{.+}} : tensor<?x4x?xf32>
  // CHECK-COUNT-1: ad.require 1 %{{.+}}(%{{.+}}, %{{.+}}, %[[SIZE]]) "tensor.cast"
  // CHECK-NEXT: tensor.cast
  %y = tensor.cast %x : tensor<?x4x?xf32> to tensor<3x?x?xf32>
  return %y : tensor<3x?x?xf32>
}

// Provable conditions are not checked: sizes of one origin are equal, and a tensor's size is not negative.
// CHECK-LABEL: @sure
// CHECK-NOT: ad.require
// CHECK: return
func.func @sure(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %most = ad.reduce_max %x axes [1] keep_dims {order = #ad.order<lanes = 64, chunk = 4096>} : tensor<?x8xf32> -> tensor<?x1xf32>
  %all = ad.broadcast %most(%rows) : tensor<?x1xf32> -> tensor<?x8xf32>
  %product = ad.dot %x, %x contract [0] x [0] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<8x8xf32>
  return %all, %product : tensor<?x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @perhaps
// CHECK: ad.require
func.func @perhaps(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<8x8xf32> {
  %product = ad.dot %x, %y contract [0] x [0] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<8x8xf32>
  return %product : tensor<8x8xf32>
}
