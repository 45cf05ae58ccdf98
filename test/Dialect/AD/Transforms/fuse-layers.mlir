// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The recorded rules of fusion, one function per rule, and what they leave out: a member is read only where it was computed.
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=policy=layers | FileCheck %s

// Rule 1: elementwise operations as large as a member. A view keeps the elements; another size stays outside.
// CHECK-LABEL: @sizes
func.func @sizes(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.exp
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion movement
  // CHECK: ad.fusion reduce
  // CHECK-NEXT: ad.reduce_sum
  // CHECK-NEXT: ad.exp
  // CHECK-NEXT: ad.yield
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %d = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %e = ad.exp %d : tensor<4x2xf32>
  %v = ad.reshape %e : tensor<4x2xf32> -> tensor<8xf32>
  %s = ad.reduce_sum %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %t = ad.exp %s : tensor<4xf32>
  return %v, %t : tensor<8xf32>, tensor<4xf32>
}

// Rule 2: groups of contractions get only operations that depend on them, elementwise groups also independent ones.
// CHECK-LABEL: @dependence
func.func @dependence(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion elementwise
  // CHECK: ad.exp {{.*}} : tensor<4x4xf32>
  // CHECK-NEXT: ad.sin {{.*}} : tensor<4x4xf32>
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion elementwise
  // CHECK: ad.exp {{.*}} : tensor<2xf32>
  // CHECK-NEXT: ad.sin {{.*}} : tensor<2xf32>
  // CHECK-NEXT: ad.yield
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %d = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = ad.exp %x : tensor<4x4xf32>
  %s = ad.sin %x : tensor<4x4xf32>
  %h = ad.slice %x [0, 0] strides [1, 1] : tensor<4x4xf32> -> tensor<1x2xf32>
  %v = ad.reshape %h : tensor<1x2xf32> -> tensor<2xf32>
  %a = ad.exp %v : tensor<2xf32>
  %b = ad.sin %v : tensor<2xf32>
  return %d, %e, %s, %a, %b : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>, tensor<2xf32>
}

// Rule 3: what has a group keeps it. Two contractions want the sum; the first one has it.
// CHECK-LABEL: @owned
func.func @owned(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.add
  // CHECK-NEXT: ad.yield
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %d = ad.dot %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = ad.dot %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = ad.add %d, %e : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// Rule 4: the sum needs the group's value and that of a contraction that waits for the group: in the group, it would wait for itself.
// CHECK-LABEL: @diamond
func.func @diamond(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.exp
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.add
  // CHECK-NEXT: ad.yield
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %d = ad.dot %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = ad.exp %d : tensor<4x4xf32>
  %f = ad.dot %e, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = ad.add %e, %f : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// Rule 5: growth ends at the first layer that adds nothing. The product is four layers below the first contraction.
// CHECK-LABEL: @layers
func.func @layers(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %v: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion elementwise
  // CHECK-COUNT-3: ad.sin
  // CHECK: ad.mul
  // CHECK-NEXT: ad.yield
  // CHECK: return
  %d = ad.dot %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = ad.sin %v : tensor<4xf32>
  %b = ad.sin %a : tensor<4xf32>
  %c = ad.sin %b : tensor<4xf32>
  %w = ad.broadcast %c : tensor<4xf32> -> tensor<4x4xf32>
  %m = ad.mul %d, %w : tensor<4x4xf32>
  return %m, %c : tensor<4x4xf32>, tensor<4xf32>
}

// Beyond the recorded rules: y + transpose(y) reads y at another point than its own.
// CHECK-LABEL: @other_elements
func.func @other_elements(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: ad.fusion dot
  // CHECK-NEXT: ad.dot
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion elementwise
  // CHECK-NEXT: ad.transpose
  // CHECK-NEXT: ad.add
  // CHECK-NEXT: ad.yield
  // CHECK: return
  %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = ad.transpose %y [1, 0] : tensor<4x4xf32>
  %s = ad.add %y, %t : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// The steps of a scan are stored before anything reads them, so that it has a kernel of its own.
// CHECK-LABEL: @after_scan
func.func @after_scan(%x: tensor<4x8xf32>, %v: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: ad.fusion reduce
  // CHECK-NEXT: ad.cumsum
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion elementwise
  // CHECK-NEXT: ad.broadcast
  // CHECK-NEXT: ad.max
  // CHECK-NEXT: ad.neg
  // CHECK: return
  %s = ad.cumsum %x axis 0 : tensor<4x8xf32>
  %b = ad.broadcast %v : tensor<8xf32> -> tensor<4x8xf32>
  %m = ad.max %s, %b : tensor<4x8xf32>
  %n = ad.neg %s : tensor<4x8xf32>
  return %m, %n : tensor<4x8xf32>, tensor<4x8xf32>
}
