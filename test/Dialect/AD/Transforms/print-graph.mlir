// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-print-graph=form=recorded -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: ad-opt %s --ad-fuse --ad-print-graph=form=recorded -o /dev/null | FileCheck %s --check-prefix=FUSED

// Several functions are printed under their names. Movement; an operation without a name of its own; what is printed already.
//      CHECK:@movement:
// CHECK-NEXT:0: Tensor(id: 0, orig_shape: [2, 3])
// CHECK-NEXT:1: Tensor(id: 1, orig_shape: [3])
// CHECK-NEXT:2: Return
// CHECK-NEXT:  5 = Concat at dim: 0
// CHECK-NEXT:    2 = Index dim: 0 from 1 to 2, dim: 1 from 0 to 3 step 2
// CHECK-NEXT:      Tensor(id: 0, orig_shape: [2, 3])
// CHECK-NEXT:    2 = Intermediate
// CHECK-NEXT:  4 = COMPARE lt (3)
// CHECK-NEXT:    3 = Broadcast from [3] to [1, 3]
// CHECK-NEXT:      Tensor(id: 1, orig_shape: [3])
// CHECK-NEXT:    3 = Intermediate
func.func @movement(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x2xf32>, tensor<1x3xi1>) {
  %s = ad.slice %x [1, 0] strides [1, 2] : tensor<2x3xf32> -> tensor<1x2xf32>
  %w = ad.broadcast %b : tensor<3xf32> -> tensor<1x3xf32>
  %m = ad.compare lt %w, %w : tensor<1x3xf32>
  %c = ad.concat axis 0 %s, %s : tensor<1x2xf32>, tensor<1x2xf32>
  return %c, %m : tensor<2x2xf32>, tensor<1x3xi1>
}

// Numbers have the fewest digits that give them back.
//      CHECK:@constants:
// CHECK-NEXT:0: Return
// CHECK-NEXT:  0 = Const(val: -7, dim: [2])
// CHECK-NEXT:  1 = Const(val: 1e-05, dim: [])
// CHECK-NEXT:  2 = Const(val: 123456.7, dim: [])
// CHECK-NEXT:  3 = Const(val: dense, dim: [3])
// CHECK-NEXT:  4 = Const(val: 1, dim: [])
// CHECK-NEXT:  5 = Const(val: inf, dim: [])
func.func @constants() -> (tensor<2xi8>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<i1>, tensor<f16>) {
  %0 = ad.constant dense<-7> : tensor<2xi8>
  %1 = ad.constant dense<1.0e-5> : tensor<f32>
  %2 = ad.constant dense<123456.7> : tensor<f32>
  %3 = ad.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %4 = ad.constant dense<true> : tensor<i1>
  %5 = ad.constant dense<0x7C00> : tensor<f16>
  return %0, %1, %2, %3, %4, %5 : tensor<2xi8>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<i1>, tensor<f16>
}

// Contractions and reductions of any axes; a size that the types leave open.
//      CHECK:@sums:
// CHECK-NEXT:0: Tensor(id: 0, orig_shape: [2, ?, 4])
// CHECK-NEXT:1: Return
// CHECK-NEXT:  1 = MAX on dim: [1, 2] (Vec/X: 2, Reduce/Y: ?)
// CHECK-NEXT:    Tensor(id: 0, orig_shape: [2, ?, 4])
// CHECK-NEXT:  3 = Dot Prod [2, ?, 4] x [2, ?, 4] batch [0] x [0] contract [2] x [2]
// CHECK-NEXT:    0 = Intermediate
// CHECK-NEXT:    2 = SOFTMAX (?)
// CHECK-NEXT:      0 = Intermediate
func.func @sums(%x: tensor<2x?x4xf32>) -> (tensor<2xf32>, tensor<2x?x?xf32>) {
  %0 = ad.reduce_max %x axes [1, 2] : tensor<2x?x4xf32> -> tensor<2xf32>
  %1 = ad.softmax %x axis 2 : tensor<2x?x4xf32>
  %2 = ad.dot %x, %1 batch [0] x [0] contract [2] x [2] : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  return %0, %2 : tensor<2xf32>, tensor<2x?x?xf32>
}

// %a is updated in place by an inner loop: it is node 0 throughout. %b is replaced in each step: a node of its own, which
// starts as the node before the loop.
//      CHECK:@loops:
// CHECK-NEXT:0: Tensor(id: 0, orig_shape: [4])
// CHECK-NEXT:1: Tensor(id: 1, orig_shape: [4])
// CHECK-NEXT:2: 2 = EXP (4)
// CHECK-NEXT:  Tensor(id: 1, orig_shape: [4])
// CHECK-NEXT:3: 3 = For 0 to ? step 2:
// CHECK-NEXT:  0: 5 = For 0 to 2 step 2:
// CHECK-NEXT:    0: 6 = SUB IN PLACE (4)
// CHECK-NEXT:      Tensor(id: 0, orig_shape: [4])
// CHECK-NEXT:      4 = Carry from 2 (dim: [4])
// CHECK-NEXT:  1: 8 = SIN (4) to 4
// CHECK-NEXT:    7 = MULT (4)
// CHECK-NEXT:      4 = Intermediate
// CHECK-NEXT:      4 = Intermediate
// CHECK-NEXT:4: Return
// CHECK-NEXT:  6 = Intermediate
// CHECK-NEXT:  4 = Intermediate
// FUSED: @loops
// FUSED: 1: 11 = SIN (4) to 5
func.func @loops(%w: tensor<4xf32>, %v: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %start = ad.exp %v : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %w, %b = %start) -> (tensor<4xf32>, tensor<4xf32>) {
    %inner = scf.for %j = %c0 to %c2 step %c2 iter_args(%c = %a) -> tensor<4xf32> {
      %d = ad.sub %c, %b : tensor<4xf32>
      scf.yield %d : tensor<4xf32>
    }
    %next = ad.mul %b, %b : tensor<4xf32>
    %e = ad.sin %next : tensor<4xf32>
    scf.yield %inner, %e : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// The second operand's carry is no update in place.
//      CHECK:@second_operand:
//      CHECK:1: 1 = For 0 to 2 step 2:
// CHECK-NEXT:  0: 4 = SUB (4) to 2
// CHECK-NEXT:    3 = EXP (4)
// CHECK-NEXT:      2 = Carry from 0 (dim: [4])
// CHECK-NEXT:    2 = Intermediate
func.func @second_operand(%w: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c2 iter_args(%a = %w) -> tensor<4xf32> {
    %e = ad.exp %a : tensor<4xf32>
    %d = ad.sub %e, %a : tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Both sides of a branch; an operation with several results; an effect.
//      CHECK:@branch:
// CHECK-NEXT:0: Tensor(id: 0, orig_shape: [4])
// CHECK-NEXT:1: 1 = IF:
// CHECK-NEXT:  0: 2 = EXP (4) to 1
// CHECK-NEXT:    Tensor(id: 0, orig_shape: [4])
// CHECK-NEXT:  1: 0 = Intermediate to 1
// CHECK-NEXT:2: 4 = Receiver "out"
// CHECK-NEXT:  3#1 = BARRIER (4)
// CHECK-NEXT:    1 = Intermediate
// CHECK-NEXT:    0 = Intermediate
// CHECK-NEXT:  3#0 = Intermediate
func.func @branch(%p: i1, %x: tensor<4xf32>) {
  %r = scf.if %p -> tensor<4xf32> {
    %0 = ad.exp %x : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %s:2 = ad.barrier %r, %x : tensor<4xf32>, tensor<4xf32>
  ad.receive "out"(%s#1, %s#0) : tensor<4xf32>, tensor<4xf32>
  return
}
