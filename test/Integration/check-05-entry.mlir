// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: %python %S/../Runner/Inputs/exits.py 1 ad-opt %s --ad-verify-entry -o /dev/null 2>&1 | FileCheck %s
// RUN: %python %S/../Runner/Inputs/exits.py 1 ad-runner %s --arg x=zeros 2>&1 | FileCheck %s
// RUN: %python %S/../Runner/Inputs/exits.py 1 ad-runner %s --arg x=zeros --target reference 2>&1 | FileCheck %s
// RUN: %python %S/../Runner/Inputs/exits.py 1 ad-runner %s --arg x=zeros -O0 2>&1 | FileCheck %s

// Check 5: a program with neither result nor receive is a located error with exit code 1 (more in check-05-entry-invalid.mlir).
// CHECK: check-05-entry.mlir:[[#@LINE+2]]:1: error: entry '@main' has neither results nor an ad.receive, so that nothing of it can be seen
// CHECK-NEXT: func.func @main(
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) {
  %y = ad.exp %x : tensor<4xf32>
  return
}
