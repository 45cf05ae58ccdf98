// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The remarks name loops that wait for the device, in each iteration or in some, and why. There is no remark for loops without kernels, and none on the CPU.
// RUN: ad-opt %s --ad-to-gpu --remarks-filter=ad-host -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: ad-opt %s --ad-to-cpu --remarks-filter=ad-host -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU --allow-empty
// CPU-NOT: ad-host

// What is fed and received does not hold up: it has lanes of its own.
// CHECK: convert-host-to-llvm-loops.mlir:[[#@LINE+5]]:8: remark: [Passed] loop-without-waits | Category:ad-host | launches=1
func.func @feeds(%x: tensor<300xf32>) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<300xf32> {
    %f = ad.feed "f" : tensor<300xf32>
    %n = ad.add %v, %f : tensor<300xf32>
    ad.receive "n"(%n) : tensor<300xf32>
    scf.yield %n : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}

// The inner loop waits, and with it the outer one.
// CHECK: convert-host-to-llvm-loops.mlir:[[#@LINE+6]]:8: remark: [Missed] loop-waits | Category:ad-host | at={{.*}}convert-host-to-llvm-loops.mlir:[[#@LINE+11]]:5, iterations=each, operation=check.expect_finite, reason="the host compares values"
// CHECK: convert-host-to-llvm-loops.mlir:[[#@LINE+6]]:14: remark: [Passed] loop-without-waits | Category:ad-host | launches=1
func.func @nested(%x: tensor<300xf32>) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<300xf32> {
    %inner = scf.for %j = %c0 to %c5 step %c1 iter_args(%w = %v) -> tensor<300xf32> {
      %n = ad.tanh %w : tensor<300xf32>
      scf.yield %n : tensor<300xf32>
    }
    check.expect_finite(%inner) : tensor<300xf32>
    scf.yield %inner : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}

// A condition that the device computes.
// CHECK: convert-host-to-llvm-loops.mlir:[[#@LINE+3]]:8: remark: [Missed] loop-waits | Category:ad-host | at={{.*}}convert-host-to-llvm-loops.mlir:[[#@LINE+5]]:10, iterations=each, operation=tensor.extract, reason="the host reads an element"
func.func @decides(%x: tensor<300xf32>) -> tensor<300xf32> {
  %small = arith.constant 0.1 : f32
  %r = scf.while (%v = %x) : (tensor<300xf32>) -> tensor<300xf32> {
    %s = ad.reduce_max %v axes [0] : tensor<300xf32> -> tensor<f32>
    %e = tensor.extract %s[] : tensor<f32>
    %again = arith.cmpf ogt, %e, %small : f32
    scf.condition(%again) %v : tensor<300xf32>
  } do {
  ^bb0(%v: tensor<300xf32>):
    %n = ad.tanh %v : tensor<300xf32>
    scf.yield %n : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}

// An operation in a branch makes the host wait in some iterations. The remark prefers an operation outside of branches.
// CHECK: convert-host-to-llvm-loops.mlir:[[#@LINE+6]]:8: remark: [Missed] loop-waits | Category:ad-host | at={{.*}}convert-host-to-llvm-loops.mlir:[[#@LINE+10]]:7, iterations=some, operation=check.expect_finite, reason="the host compares values"
// CHECK: convert-host-to-llvm-loops.mlir:[[#@LINE+13]]:8: remark: [Missed] loop-waits | Category:ad-host | at={{.*}}convert-host-to-llvm-loops.mlir:[[#@LINE+19]]:5, iterations=each, operation=check.expect_finite, reason="the host compares values"
func.func @branches(%x: tensor<300xf32>) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<300xf32> {
    %n = ad.tanh %v : tensor<300xf32>
    %isFirst = arith.cmpi eq, %i, %c0 : index
    scf.if %isFirst {
      check.expect_finite(%n) : tensor<300xf32>
    }
    scf.yield %n : tensor<300xf32>
  }
  %s = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %r) -> tensor<300xf32> {
    %n = ad.exp %v : tensor<300xf32>
    %isFirst = arith.cmpi eq, %i, %c0 : index
    scf.if %isFirst {
      check.expect_finite(%v) : tensor<300xf32>
    }
    check.expect_finite(%n) : tensor<300xf32>
    scf.yield %n : tensor<300xf32>
  }
  return %s : tensor<300xf32>
}

func.func @empty(%x: tensor<300xf32>) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c5 step %c1 {
    ad.receive "x"(%x) : tensor<300xf32>
  }
  return %x : tensor<300xf32>
}
