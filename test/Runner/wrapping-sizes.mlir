// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Offsets and sizes whose products or sums wrap around in 64 bits are refused, and no memory outside is read.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry window --cache=off --arg x=arange 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry window --cache=off --arg x=arange --target reference 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: wrapping-sizes.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: 'ad.dynamic_slice' op dimension 0: index 9223372036854775807 is outside of size 5
func.func @window(%x: tensor<5xf32> {ad.name = "x"}) -> tensor<2xf32> {
  %i = call @index() : () -> index
  %y = ad.dynamic_slice %x[%i] : tensor<5xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The last element would be element 2^64 + 1. The reference interpreter has too little memory for so many elements.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry strided --cache=off --arg x=arange --dim x.0=5 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: %python %S/Inputs/exits.py 4 ad-runner %s --entry strided --cache=off --arg x=arange --dim x.0=5 --target reference 2>&1 | FileCheck %s --check-prefix=MEMORY
// STRIDED: wrapping-sizes.mlir:[[#@LINE+8]]:{{[0-9]+}}: error: 'ad.slice' op dimension 0: index 9223372036854775807 is outside of size 5
// MEMORY: wrapping-sizes.mlir:{{[0-9]+:[0-9]+}}: error: 'ad.{{[a-z]+}}' op not enough memory for a tensor of unrepresentable size
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

// Nothing is read along an axis from which no element is taken, at any offset.
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

// Memory of (2^62 + 1) * 4 bytes, of which 64 bits hold 4.
// RUN: %python %S/Inputs/exits.py 4 ad-runner %s --entry memory --cache=off --arg x=arange 2>&1 | FileCheck %s --check-prefix=BUFFER
// RUN: %python %S/Inputs/exits.py 4 ad-runner %s --entry memory --cache=off --arg x=arange --target reference 2>&1 | FileCheck %s --check-prefix=MEMORY
// BUFFER: wrapping-sizes.mlir:{{[0-9]+}}:8: error: not enough memory for an intermediate tensor of unrepresentable size
func.func @memory(%x: tensor<f32> {ad.name = "x"}) -> tensor<f32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %most = call @index() : () -> index
  %half = arith.shrui %most, %c1 : index
  %n = arith.addi %half, %c2 : index
  %y = ad.broadcast %x(%n) : tensor<f32> -> tensor<?xf32>
  %kept = ad.barrier %y : tensor<?xf32>
  %s = ad.reduce_sum %kept axes [0] : tensor<?xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// Operands without elements make a product that is too large for memory.
// RUN: %python -c "import numpy as np; np.save('%t.x.npy', np.zeros((2**31, 0), 'f4')); np.save('%t.y.npy', np.zeros((0, 2**31), 'f4'))"
// RUN: %python %S/Inputs/exits.py 4 ad-runner %s --entry product --cache=off --arg x=%t.x.npy --arg y=%t.y.npy 2>&1 | FileCheck %s --check-prefix=BUFFER
// RUN: %python %S/Inputs/exits.py 4 ad-runner %s --entry product --cache=off --arg x=%t.x.npy --arg y=%t.y.npy --target reference 2>&1 | FileCheck %s --check-prefix=MEMORY
func.func @product(%x: tensor<?x?xf32> {ad.name = "x"}, %y: tensor<?x?xf32> {ad.name = "y"}) -> tensor<f32> {
  %0 = ad.dot %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = ad.barrier %0 : tensor<?x?xf32>
  %2 = ad.reduce_max %1 axes [0, 1] : tensor<?x?xf32> -> tensor<f32>
  return %2 : tensor<f32>
}

// Two negative sizes have a positive product.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry negative --cache=off --arg x=arange 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry negative --cache=off --arg x=arange --target reference 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: wrapping-sizes.mlir:[[#@LINE+6]]:{{[0-9]+}}: error: 'ad.broadcast' op dimension 0 has negative size -9223372036854775807
func.func @negative(%x: tensor<f32> {ad.name = "x"}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %most = call @index() : () -> index
  %n = arith.subi %c0, %most : index
  %y = ad.broadcast %x(%n, %n) : tensor<f32> -> tensor<?x?xf32>
  %kept = ad.barrier %y : tensor<?x?xf32>
  %r = ad.reshape %kept(%c6) : tensor<?x?xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry summed --cache=off --arg x=arange --dim x.0=3 2>&1 | FileCheck %s --check-prefix=SUMMED
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry summed --cache=off --arg x=arange --dim x.0=3 --target reference 2>&1 | FileCheck %s --check-prefix=SUMMED
// SUMMED: error: 'ad.sum_to_shape' op dimension 0 has negative size -9223372036854775807
func.func @summed(%x: tensor<?xf32> {ad.name = "x"}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %most = call @index() : () -> index
  %n = arith.subi %c0, %most : index
  %y = ad.sum_to_shape %x(%n) : tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// 2^63 - 1, which no folder sees.
func.func private @index() -> index {
  %0 = ad.constant dense<9223372036854775807> : tensor<i64>
  %1 = ad.barrier %0 : tensor<i64>
  %2 = tensor.extract %1[] : tensor<i64>
  %3 = arith.index_cast %2 : i64 to index
  return %3 : index
}
