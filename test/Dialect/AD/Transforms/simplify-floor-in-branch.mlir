// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The floor of an infinity of f8E5M2 is its largest number, since what rounds to that type saturates. MLIR's
// folder says infinity; it stays out of branches that are inlined, too.
// RUN: ad-opt %s --ad-simplify | FileCheck %s
func.func @main() -> tensor<i32> {
  %condition = arith.constant false
  %value = scf.if %condition -> (f8E5M2) {
    %large = arith.constant 0xFB : f8E5M2
    scf.yield %large : f8E5M2
  } else {
    %infinity = arith.constant 0x7C : f8E5M2
    // CHECK: math.floor
    %floor = math.floor %infinity : f8E5M2
    scf.yield %floor : f8E5M2
  }
  %integer = arith.fptoui %value : f8E5M2 to i32
  %result = ad.full %integer : i32 -> tensor<i32>
  return %result : tensor<i32>
}
