// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-fuse --ad-print-procedure -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: ad-opt %s --ad-print-procedure -o /dev/null | FileCheck %s --check-prefix=UNFUSED

// What the expressions say is proved by print_access_test.py; here is their layout. Movement is part of the expressions that read it.
//      CHECK:@movement:
// CHECK-NEXT:Tensor(id: 0, orig_shape: [5, 3])
// CHECK-NEXT:Tensor(id: 1, orig_shape: [2])
// CHECK-NEXT:Mat (id: 6, Global) = MULT (6) --> (Mat (id: 0, (((((Global % 2) * 2) + 1) * 3) + ((Global / 2) % 3))), Mat (id: 1, (Global % 2)))
// CHECK-NEXT:Return --> (Mat (id: 6, Global))
func.func @movement(%x: tensor<5x3xf32>, %b: tensor<2xf32>) -> tensor<3x2xf32> {
  %s = ad.slice %x [1, 0] strides [2, 1] : tensor<5x3xf32> -> tensor<2x3xf32>
  %t = ad.transpose %s [1, 0] : tensor<2x3xf32>
  %w = ad.broadcast %b : tensor<2xf32> -> tensor<3x2xf32>
  %m = ad.mul %t, %w : tensor<3x2xf32>
  return %m : tensor<3x2xf32>
}

// What has to be in memory is made there. Without fusions only what something else than a kernel reads has to.
//      CHECK:@views:
// CHECK-NEXT:Tensor(id: 0, orig_shape: [4])
// CHECK-NEXT:Mat (id: 2, Global) = Contigious --> (Mat (id: 0, (((((Global / 2) % 2) * 2) + (Global % 2)) % 4)))
// CHECK-NEXT:Mat (id: 4, Global) = EXP (4) --> (Mat (id: 2, Global))
// CHECK-NEXT:Mat (id: 6, Global) = Contigious --> (KConcat((((Global / 2) % 4) < 2) ? Mat (id: 4, ((((Global / 2) % 4) * 2) + (Global % 2))) : Mat (id: 4, (((((Global / 2) % 4) - 2) * 2) + (Global % 2)))))
// CHECK-NEXT:Return --> (Mat (id: 6, Global))
// UNFUSED-LABEL: @views:
// UNFUSED-NEXT: Tensor
// UNFUSED-NEXT: Mat (id: 2, Global) = EXP (4) --> (Mat (id: 0, (((((Global / 2) % 2) * 2) + (Global % 2)) % 4)))
// UNFUSED-NEXT: Mat (id: 3, Global) = Contigious --> (KConcat(
// UNFUSED-NEXT: Return --> (Mat (id: 3, Global))
func.func @views(%x: tensor<4xf32>) -> tensor<4x2xf32> {
  %v = ad.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  %e = ad.exp %v : tensor<2x2xf32>
  %c = ad.concat axis 0 %e, %e : tensor<2x2xf32>, tensor<2x2xf32>
  return %c : tensor<4x2xf32>
}

// More than two axes of a contraction are rows, but the last; a bias that is still to be repeated.
//      CHECK:@rows:
//      CHECK:DPElwFuse Fusion (fuse_id: 3):
// CHECK-NEXT:    Mat (id: 4, (((((X / 3) % 2) * 15) + ((X % 3) * 5)) + Y)) = Dot Prod [2, 3, 4] x [4, 5] contract [2] x [0] --> (Mat (id: 0, (((((X / 3) % 2) * 12) + ((X % 3) * 4)) + Y)), Mat (id: 1, ((X * 5) + Y)))
// CHECK-NEXT:    Mat (id: 5, Global) = ADD (30) --> (Mat (id: 4, Global), Mat (id: 2, (Global % 5)))
// CHECK-NEXT:Return --> (Mat (id: 5, Global))
func.func @rows(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %d = ad.dot %x, %y batch [] x [] contract [2] x [0] : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %s = ad.add %d, %b : tensor<2x3x5xf32>, tensor<5xf32>
  return %s : tensor<2x3x5xf32>
}

// A carried tensor that is updated in place, also by an inner loop, is the one that the loop starts with; another one is a node of
// its own, to which the new value moves.
//      CHECK:@loops:
//      CHECK:4 = For 0 to ? step 2:
// CHECK-NEXT:    6 = For 0 to 2 step 2:
// CHECK-NEXT:        Mat (id: 0, Global) = SUB IN PLACE (4) --> (Mat (id: 0, Global), Mat (id: 5, Global))
// CHECK-NEXT:    ElwFuse Fusion (fuse_id: 9):
// CHECK-NEXT:        Mat (id: 10, Global) = MULT (4) --> (Mat (id: 5, Global), Mat (id: 5, Global))
// CHECK-NEXT:        Mat (id: 11, Global) = SIN (4) --> (Mat (id: 10, Global))
// CHECK-NEXT:    Mat (id: 5, Global) = Yield --> (Mat (id: 11, Global))
// CHECK-NEXT:Return --> (Mat (id: 0, Global), Mat (id: 5, Global))
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

// Both sides of a branch move their value to its result; an operation with several results; an effect.
//      CHECK:@branch:
//      CHECK:1 = IF:
// CHECK-NEXT:    Mat (id: 3, Global) = EXP (4) --> (Mat (id: 0, Global))
// CHECK-NEXT:    Mat (id: 1, Global) = Yield --> (Mat (id: 3, Global))
// CHECK-NEXT:    Mat (id: 1, Global) = Yield --> (Mat (id: 0, Global))
// CHECK-NEXT:Mat (id: 4#0, Global) = BARRIER (4) --> (Mat (id: 1, Global), Mat (id: 0, Global))
// CHECK-NEXT:5 = Receiver "out" --> (Mat (id: 4#1, Global), Mat (id: 4#0, Global))
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
