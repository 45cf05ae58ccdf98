// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Offsets and sizes so large that what is computed of them wraps are refused, and nothing outside is read.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry window --cache=off --arg x=arange 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry window --cache=off --arg x=arange --target reference 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: wrapping-sizes.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: 'ad.dynamic_slice' op dimension 0: index 9223372036854775807 is outside of size 5
func.func @window(%x: tensor<5xf32> {ad.name = "x"}) -> tensor<2xf32> {
  %i = call @index() : () -> index
  %y = ad.dynamic_slice %x[%i] : tensor<5xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The last element would be element 2^64 + 1. The reference finds no memory for so many.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry strided --cache=off --arg x=arange --dim x.0=5 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: %python %S/Inputs/exits.py 2 ad-runner %s --entry strided --cache=off --arg x=arange --dim x.0=5 --target reference 2>&1 | FileCheck %s --check-prefix=MEMORY
// STRIDED: wrapping-sizes.mlir:[[#@LINE+8]]:{{[0-9]+}}: error: 'ad.slice' op dimension 0: index 9223372036854775807 is outside of size 5
// MEMORY: error: {{.*}}not enough memory
func.func @strided(%x: tensor<?xf32> {ad.name = "x"}) -> tensor<f32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %most = call @index() : () -> index
  %half = arith.shrui %most, %c1 : index
  %n = arith.addi %half, %c2 : index
  %y = ad.slice %x [1] strides [4] (%n) : tensor<?xf32> -> tensor<?xf32>
  %s = ad.reduce_sum %y axes [0] : tensor<?xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry far --cache=off --arg x=arange --dim x.0=5 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry far --cache=off --arg x=arange --dim x.0=5 --target reference 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: wrapping-sizes.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'ad.slice' op dimension 0: index 9223372036854775807 is outside of size 5
func.func @far(%x: tensor<?xf32> {ad.name = "x"}) -> tensor<2xf32> {
  %y = ad.slice %x [9223372036854775807] strides [64] : tensor<?xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Nothing is read along an axis of which nothing is taken, wherever it starts.
// RUN: ad-runner %s --entry nothing --cache=off --arg x=arange --dim x.0=5 --print | FileCheck %s --check-prefix=NOTHING
// RUN: ad-runner %s --entry nothing --cache=off --arg x=arange --dim x.0=5 --target reference --print | FileCheck %s --check-prefix=NOTHING
// NOTHING: tensor<0xf32>
func.func @nothing(%x: tensor<?xf32> {ad.name = "x"}) -> tensor<0xf32> {
  %y = ad.slice %x [9223372036854775807] strides [64] : tensor<?xf32> -> tensor<0xf32>
  return %y : tensor<0xf32>
}

// 4 * (2^62 + 1) is 4 in 64 bits.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry reshape --cache=off --arg x=arange --dim x.0=4 2>&1 | FileCheck %s --check-prefix=RESHAPE
// RESHAPE: wrapping-sizes.mlir:[[#@LINE+8]]:{{[0-9]+}}: error: 'ad.reshape' op reshape: 4 elements cannot become 9223372036854775807
func.func @reshape(%x: tensor<?xf32> {ad.name = "x"}) -> tensor<f32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %most = call @index() : () -> index
  %half = arith.shrui %most, %c1 : index
  %n = arith.addi %half, %c2 : index
  %y = ad.reshape %x(%c4, %n) : tensor<?xf32> -> tensor<?x?xf32>
  %s = ad.reduce_sum %y axes [0, 1] : tensor<?x?xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// 2^63 - 1, which no folder sees.
func.func private @index() -> index {
  %0 = ad.constant dense<9223372036854775807> : tensor<i64>
  %1 = ad.barrier %0 : tensor<i64>
  %2 = tensor.extract %1[] : tensor<i64>
  %3 = arith.index_cast %2 : i64 to index
  return %3 : index
}
