// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: %python %S/../Runner/Inputs/exits.py 1 ad-opt %s --ad-verify-entry -o /dev/null 2>&1 | FileCheck %s
// RUN: %python %S/../Runner/Inputs/exits.py 1 ad-runner %s --arg x=zeros 2>&1 | FileCheck %s
// RUN: %python %S/../Runner/Inputs/exits.py 1 ad-runner %s --arg x=zeros --target reference 2>&1 | FileCheck %s
// RUN: %python %S/../Runner/Inputs/exits.py 1 ad-runner %s --arg x=zeros -O0 2>&1 | FileCheck %s

// A program with neither result nor receive is a located error with exit code 1 (more in verify-entry-invalid.mlir).
// CHECK: entry-without-results.mlir:[[#@LINE+2]]:1: error: entry '@main' has neither results nor an ad.receive, so that nothing of it can be seen
// CHECK-NEXT: func.func @main(
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) {
  %y = ad.exp %x : tensor<4xf32>
  return
}
