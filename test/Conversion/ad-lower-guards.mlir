// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-lower-guards | FileCheck %s

// Each guard goes on when its status is 0 and else leaves through the one exit of its function, from inside a loop too.
// CHECK-LABEL: func.func @entry
// CHECK-SAME: %[[A:.+]]: i32, %[[B:.+]]: i32
func.func @entry(%a: i32, %b: i32, %again: i1) -> i32 {
  // CHECK: %[[ZERO:.+]] = arith.constant 0 : i32
  // CHECK: %[[FINE:.+]] = arith.cmpi eq, %[[A]], %[[ZERO]] : i32
  // CHECK-NEXT: cf.cond_br %[[FINE]], ^[[LOOP:.+]], ^[[EXIT:.+]](%[[A]] : i32)
  ad.guard %a
  cf.br ^loop
^loop:
  // CHECK: %[[OK:.+]] = arith.cmpi eq, %[[B]], %{{.+}} : i32
  // CHECK-NEXT: cf.cond_br %[[OK]], ^[[MORE:.+]], ^[[EXIT]](%[[B]] : i32)
  ad.guard %b
  // CHECK: ^[[MORE]]:
  // CHECK-NEXT: cf.cond_br
  cf.cond_br %again, ^loop, ^done
^done:
  %done = arith.constant 0 : i32
  return %done : i32
  // CHECK: ^[[EXIT]](%[[STATUS:.+]]: i32):
  // CHECK-NEXT: return %[[STATUS]] : i32
}

// A function without guards stays as it is.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: return
func.func @plain(%a: i32) -> i32 {
  return %a : i32
}
