// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference --cache off %s
// RUN: ad-runner --target cpu --cache off %s
// RUN: ad-runner --target cpu --cache off -O0 %s
// RUN: ad-runner --target gpu-sim --cache off %s

// The condition forwards the result of a branch twice, and the body carries on the second one. State 0: 0 < 1, the
// branch gives 2, which is carried. State 2: the branch gives 20, and the loop ends with 20, 20 and the state 2.
func.func @main() -> tensor<i64> {
  %zero = ad.constant dense<0> : tensor<i64>
  %barrier = ad.barrier %zero : tensor<i64>
  %start = tensor.extract %barrier[] : tensor<i64>
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c20 = arith.constant 20 : i64
  %r:3 = scf.while (%state = %start) : (i64) -> (i64, i64, i64) {
    %go = arith.cmpi slt, %state, %c1 : i64
    %v = scf.if %go -> i64 {
      %n = arith.addi %state, %c2 : i64
      scf.yield %n : i64
    } else {
      scf.yield %c20 : i64
    }
    scf.condition(%go) %v, %v, %state : i64, i64, i64
  } do {
  ^bb0(%a: i64, %b: i64, %old: i64):
    scf.yield %b : i64
  }
  %t0 = ad.full %r#0 : i64 -> tensor<i64>
  %t1 = ad.full %r#1 : i64 -> tensor<i64>
  %t2 = ad.full %r#2 : i64 -> tensor<i64>
  %20 = ad.constant dense<20> : tensor<i64>
  %2 = ad.constant dense<2> : tensor<i64>
  check.expect_eq(%t0, %20) : tensor<i64>
  check.expect_eq(%t1, %20) : tensor<i64>
  check.expect_eq(%t2, %2) : tensor<i64>
  return %t2 : tensor<i64>
}
