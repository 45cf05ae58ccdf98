// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-print-graph -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: ad-opt %s --ad-print-graph=form=dialect -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: not ad-opt %s --ad-print-graph=form=tree 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: unknown form 'tree' of ad-print-graph, expected dialect or recorded

// Operations as programs write them; what is printed already is named only.
//      CHECK:@movement:
// CHECK-NEXT:0: %0 = argument : tensor<2x3xf32>
// CHECK-NEXT:1: %1 = argument : tensor<3xf32>
// CHECK-NEXT:2: return
// CHECK-NEXT:  %5 = ad.concat axis 0 : tensor<2x2xf32>
// CHECK-NEXT:    %2 = ad.slice offsets [1, 0] strides [1, 2] : tensor<1x2xf32>
// CHECK-NEXT:      %0 = argument : tensor<2x3xf32>
// CHECK-NEXT:    %2, see above
// CHECK-NEXT:  %4 = ad.compare lt : tensor<1x3xi1>
// CHECK-NEXT:    %3 = ad.broadcast : tensor<1x3xf32>
// CHECK-NEXT:      %1 = argument : tensor<3xf32>
// CHECK-NEXT:    %3, see above
func.func @movement(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x2xf32>, tensor<1x3xi1>) {
  %s = ad.slice %x [1, 0] strides [1, 2] : tensor<2x3xf32> -> tensor<1x2xf32>
  %w = ad.broadcast %b : tensor<3xf32> -> tensor<1x3xf32>
  %m = ad.compare lt %w, %w : tensor<1x3xf32>
  %c = ad.concat axis 0 %s, %s : tensor<1x2xf32>, tensor<1x2xf32>
  return %c, %m : tensor<2x2xf32>, tensor<1x3xi1>
}

// Sums; attributes of the contract do not show.
//      CHECK:@sums:
//      CHECK:  %2 = ad.reduce_max axes [1, 2] keepDims : tensor<2x1x1xf32>
// CHECK-NEXT:    %0 = argument : tensor<2x?x4xf32>
// CHECK-NEXT:  %3 = ad.dot batch [0] x [0] contract [2] x [2] : tensor<2x?x?xf32>
// CHECK-NEXT:    %0, see above
// CHECK-NEXT:    %1 = argument : tensor<2x?x4xf32>
// CHECK-NEXT:  %4 = ad.constant -0.01 : tensor<f32>
// CHECK-NEXT:  %5 = ad.constant dense : tensor<2xf32>
func.func @sums(%x: tensor<2x?x4xf32>, %y: tensor<2x?x4xf32>)
    -> (tensor<2x1x1xf32>, tensor<2x?x?xf32>, tensor<f32>, tensor<2xf32>) {
  %0 = ad.reduce_max %x axes [1, 2] keep_dims {allow = #ad.allow<reorder>} : tensor<2x?x4xf32> -> tensor<2x1x1xf32>
  %1 = ad.dot %x, %y batch [0] x [0] contract [2] x [2] {order = #ad.order<block = 4>}
      : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %2 = ad.constant dense<-0.01> : tensor<f32>
  %3 = ad.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2x1x1xf32>, tensor<2x?x?xf32>, tensor<f32>, tensor<2xf32>
}

// Both carries are updated in place: each old value is read for the last time by the operation that replaces it. Feeds and
// receivers have names.
//      CHECK:@loop:
// CHECK-NEXT:0: %0 = argument : tensor<4xf32>
// CHECK-NEXT:1: %1 = argument : tensor<4xf32>
// CHECK-NEXT:2: %2 = scf.for 0 to ? step 2
// CHECK-NEXT:  0: ad.receive "out"
// CHECK-NEXT:    %3 = ad.feed "in" : tensor<4xf32>
// CHECK-NEXT:  1: %5 = ad.sub in place : tensor<4xf32>
// CHECK-NEXT:    %0 = argument : tensor<4xf32>
// CHECK-NEXT:    %1 = argument : tensor<4xf32>
// CHECK-NEXT:  2: %6 = ad.mul in place : tensor<4xf32>
// CHECK-NEXT:    %1, see above
// CHECK-NEXT:    %1, see above
// CHECK-NEXT:3: return
// CHECK-NEXT:  %5, see above
// CHECK-NEXT:  %6, see above
func.func @loop(%w: tensor<4xf32>, %v: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %r:2 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %w, %b = %v) -> (tensor<4xf32>, tensor<4xf32>) {
    %x = ad.feed "in" : tensor<4xf32>
    ad.receive "out"(%x) : tensor<4xf32>
    %d = ad.sub %a, %b : tensor<4xf32>
    %next = ad.mul %b, %b : tensor<4xf32>
    scf.yield %d, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// A constant of another dialect has the form of `ad.constant`.
//      CHECK:@foreign_constant:
//      CHECK:  %2 = ad.mul : tensor<4xf32>
// CHECK-NEXT:    %0 = argument : tensor<4xf32>
// CHECK-NEXT:    %1 = arith.constant 2.0 : tensor<4xf32>
func.func @foreign_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %m = ad.mul %x, %two : tensor<4xf32>
  return %m : tensor<4xf32>
}
