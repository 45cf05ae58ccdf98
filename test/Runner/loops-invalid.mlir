// Loops that do not advance and calls that do not end: the same refusal on every target.
// RUN: split-file %s %t
// RUN: %python -c "import numpy as n; n.save('%t/s.npy', n.array(-1, n.int64))"
// RUN: not ad-runner %t/step.mlir --cache off --arg x=arange --arg s=%t/s.npy 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not ad-runner %t/step.mlir --target reference --arg x=arange --arg s=%t/s.npy 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not ad-runner %t/constant.mlir --cache off --arg x=arange 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not ad-runner %t/constant.mlir -O0 --cache off --arg x=arange 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not ad-runner %t/recursion.mlir --cache off --arg x=arange 2>&1 | FileCheck %s --check-prefix=RECURSION
// RUN: not ad-runner %t/body.mlir --cache off --arg x=arange 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: not ad-runner %t/unsigned.mlir --cache off 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not ad-runner %t/unsigned.mlir -O0 --cache off 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not ad-runner %t/unsigned.mlir --target reference 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: mlir:6:8: error: 'scf.for' op requires a positive step, but got 0
// RUN: not ad-runner %t/wide.mlir --cache off 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not ad-runner %t/wide.mlir --target reference 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not ad-opt %t/wide.mlir --ad-to-cpu 2>&1 | FileCheck %s --check-prefix=TYPE
// WIDE: mlir:4:8: error: 'scf.for' op requires an index of at most 64 bits, but got 'i128'
// TYPE: mlir:2:9: error: a value of type 'i128' runs on no target
// BODY: error: 'func.call' op expected 'elsewhere' to have a body
// STEP: mlir:{{[0-9]+}}:8: error: 'scf.for' op requires a positive step, but got -1
// RUN: not ad-runner %t/mutual.mlir --cache off --arg x=arange 2>&1 | FileCheck %s --check-prefix=RECURSION
// RECURSION: error: 'func.call' op is part of a recursion, which cannot be compiled; write a loop
// RECURSION-NOT: error:

//--- unsigned.mlir
func.func @main() -> tensor<i64> {
  %zero = ad.constant dense<0> : tensor<i64>
  %hidden = ad.barrier %zero : tensor<i64>
  %step = tensor.extract %hidden[] : tensor<i64>
  %end = arith.constant -1 : i64
  %r = scf.for unsigned %i = %step to %end step %step iter_args(%v = %zero) -> tensor<i64> : i64 {
    %f = ad.full %i : i64 -> tensor<i64>
    scf.yield %f : tensor<i64>
  }
  return %r : tensor<i64>
}
//--- wide.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i128
  %c3 = arith.constant 3 : i128
  %r = scf.for %i = %c0 to %c3 step %c3 iter_args(%v = %x) -> tensor<4xf32> : i128 {
    %f = ad.exp %v : tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
//--- body.mlir
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %y = func.call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
//--- step.mlir
func.func @main(%x: tensor<4xf32> {ad.name = "x"}, %s: tensor<i64> {ad.name = "s"}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %e = tensor.extract %s[] : tensor<i64>
  %step = arith.index_cast %e : i64 to index
  %r = scf.for %i = %c0 to %c3 step %step iter_args(%v = %x) -> tensor<4xf32> {
    %f = ad.exp %v : tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
//--- constant.mlir
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %step = arith.constant -1 : index
  %r = scf.for %i = %c0 to %c3 step %step iter_args(%v = %x) -> tensor<4xf32> {
    %f = ad.exp %v : tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
//--- mutual.mlir
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @third(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @third(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %y = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
//--- recursion.mlir
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %y = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
