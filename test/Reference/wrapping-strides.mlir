// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: not ad-runner %s --cache=off --target reference --entry slice --arg x=arange 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: not ad-runner %s --cache=off --target reference --entry insert --arg x=arange 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: ad-runner %s --cache=off --target reference --entry one --arg x=arange --print | FileCheck %s --check-prefix=ONE

// The index of the last element is 3 (2^64 + 2) / 3 = 2^64 + 2, which would be 2 in 64 bits.

// SLICE: wrapping-strides.mlir:[[@LINE+2]]:8: error: 'tensor.extract_slice' op dimension 0: index 9223372036854775807 is outside of size 8
ad.kernel private @slice_of(%x: tensor<8xf32>, %t: index) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  %r = tensor.extract_slice %x[0] [4] [%t] : tensor<8xf32> to tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}
func.func @slice(%x: tensor<8xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %t = arith.constant 6148914691236517206 : index
  %y = ad.launch @slice_of(%x, %t) : (tensor<8xf32>, index) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// INSERT: wrapping-strides.mlir:[[@LINE+3]]:8: error: 'tensor.insert_slice' op dimension 0: index 9223372036854775807 is outside of size 8
ad.kernel private @insert_into(%x: tensor<8xf32>, %t: index) -> tensor<8xf32> attributes {kernel_class = "generic"} {
  %z = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %r = tensor.insert_slice %z into %x[0] [4] [%t] : tensor<4xf32> into tensor<8xf32>
  ad.yield %r : tensor<8xf32>
}
func.func @insert(%x: tensor<8xf32> {ad.name = "x"}) -> tensor<8xf32> {
  %t = arith.constant 6148914691236517206 : index
  %y = ad.launch @insert_into(%x, %t) : (tensor<8xf32>, index) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// A single element takes no step.
// ONE: [7.]
ad.kernel private @one_of(%x: tensor<8xf32>, %t: index) -> tensor<1xf32> attributes {kernel_class = "generic"} {
  %r = tensor.extract_slice %x[7] [1] [%t] : tensor<8xf32> to tensor<1xf32>
  ad.yield %r : tensor<1xf32>
}
func.func @one(%x: tensor<8xf32> {ad.name = "x"}) -> tensor<1xf32> {
  %t = arith.constant 6148914691236517206 : index
  %y = ad.launch @one_of(%x, %t) : (tensor<8xf32>, index) -> tensor<1xf32>
  return %y : tensor<1xf32>
}
