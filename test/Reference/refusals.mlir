// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the interpreter does not run is refused with its location and the reason. Arithmetic of tensors and
// branches between blocks are imported before.
// RUN: split-file %s %t
// RUN: not ad-runner %t/step.mlir --target reference 2>&1 | FileCheck %t/step.mlir
// RUN: not ad-runner %t/form.mlir --target reference 2>&1 | FileCheck %t/form.mlir
// RUN: not ad-runner %t/foreign.mlir --target reference 2>&1 | FileCheck %t/foreign.mlir
// RUN: not ad-runner %t/body.mlir --target reference 2>&1 | FileCheck %t/body.mlir
// RUN: not ad-runner %t/recursion.mlir --target reference 2>&1 | FileCheck %t/recursion.mlir
// RUN: not ad-runner %t/division.mlir --target reference 2>&1 | FileCheck %t/division.mlir
// RUN: not ad-runner %t/memory.mlir --target reference 2>&1 | FileCheck %t/memory.mlir
// RUN: not ad-runner %t/axis.mlir --target reference 2>&1 | FileCheck %t/axis.mlir
// RUN: not ad-runner %t/widths.mlir --target reference 2>&1 | FileCheck %t/widths.mlir

//--- step.mlir
func.func @main() -> tensor<f32> {
  %x = ad.constant dense<1.0> : tensor<f32>
  %n = ad.constant dense<0> : tensor<i64>
  %i = tensor.extract %n[] : tensor<i64>
  %step = arith.index_cast %i : i64 to index
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  // CHECK: step.mlir:[[@LINE+1]]:8: error: 'scf.for' op requires a positive step, but got 0
  %r = scf.for %k = %zero to %two step %step iter_args(%v = %x) -> tensor<f32> {
    %w = ad.add %v, %v : tensor<f32>
    scf.yield %w : tensor<f32>
  }
  return %r : tensor<f32>
}

//--- form.mlir
func.func @main() -> tensor<2xf32> {
  // CHECK: form.mlir:[[@LINE+1]]:8: error: 'ad.constant' op holds its value in a form that the reference interpreter does not read, expected dense<…>
  %x = ad.constant dense_resource<r> : tensor<2xf32>
  return %x : tensor<2xf32>
}
{-#
  dialect_resources: { builtin: { r: "0x040000000000803F0000803F" } }
#-}

//--- foreign.mlir
func.func @main() -> tensor<4xf32> {
  %x = ad.constant dense<1.0> : tensor<4xf32>
  // CHECK: foreign.mlir:[[@LINE+1]]:8: error: 'ub.poison' op is not an operation that the reference interpreter runs
  %y = ub.poison : f32
  return %x : tensor<4xf32>
}

//--- body.mlir
// CHECK: body.mlir:[[@LINE+1]]:1: error: expected 'outside' to have a body
func.func private @outside(tensor<f32>) -> tensor<f32>
func.func @main() -> tensor<f32> {
  %x = ad.constant dense<1.0> : tensor<f32>
  %y = func.call @outside(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

//--- recursion.mlir
func.func @main() -> tensor<f32> {
  // CHECK: recursion.mlir:[[@LINE+1]]:8: error: calls nest deeper than 1000
  %y = func.call @main() : () -> tensor<f32>
  return %y : tensor<f32>
}

//--- division.mlir
func.func @main() -> tensor<i64> {
  %n = ad.constant dense<0> : tensor<i64>
  %i = tensor.extract %n[] : tensor<i64>
  %one = arith.constant 1 : i64
  // CHECK: division.mlir:[[@LINE+1]]:8: error: 'arith.divsi' op divides by zero
  %d = arith.divsi %one, %i : i64
  return %n : tensor<i64>
}
//--- memory.mlir
func.func @main() -> tensor<?xf32> {
  %n = ad.constant dense<1000000000000000> : tensor<i64>
  %i = tensor.extract %n[] : tensor<i64>
  %size = arith.index_cast %i : i64 to index
  %zero = arith.constant 0.0 : f32
  // CHECK: memory.mlir:[[@LINE+1]]:8: error: 'ad.full' op not enough memory for a tensor of 4000000000000000 bytes
  %x = ad.full %zero(%size) : f32 -> tensor<?xf32>
  return %x : tensor<?xf32>
}

//--- axis.mlir
func.func @main() -> tensor<i64> {
  %n = ad.constant dense<7> : tensor<i64>
  %i = tensor.extract %n[] : tensor<i64>
  %k = arith.index_cast %i : i64 to index
  %x = ad.constant dense<1.0> : tensor<4xf32>
  // CHECK: axis.mlir:[[@LINE+1]]:8: error: 'tensor.dim' op asks for dimension 7 of rank 1
  %d = tensor.dim %x, %k : tensor<4xf32>
  return %n : tensor<i64>
}

//--- widths.mlir
func.func @main() -> tensor<i32> {
  %x = ad.constant dense<1> : tensor<i32>
  // CHECK: widths.mlir:[[@LINE+1]]:8: error: a value of type 'i65' runs on no target; expected a ranked tensor of
  %i = arith.constant 3 : i65
  return %x : tensor<i32>
}
