// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The function of the sizes of partial results ends with its return, also where small tiles choose a block of results.
//
// RUN: ad-opt %s --ad-to-cpu="tiles=small vector-bytes=64" | FileCheck %s

// CHECK-LABEL: llvm.func internal @{{.*}}$partial_sizes
// CHECK: llvm.return %{{.+}} : !llvm.struct<(i64, i64)>
// CHECK-NEXT: }
func.func @main(%x: tensor<9x8x4096xf32>, %w: tensor<1x4096xf32>, %start: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 9 : index
  %sum = scf.for %i = %zero to %count step %one iter_args(%before = %start) -> (tensor<8x1xf32>) {
    %slice = ad.dynamic_slice %x[%i, %zero, %zero] : tensor<9x8x4096xf32> -> tensor<1x8x4096xf32>
    %a = ad.reshape %slice : tensor<1x8x4096xf32> -> tensor<8x4096xf32>
    %product = ad.dot %a, %w batch [] x [] contract [1] x [1]
        : (tensor<8x4096xf32>, tensor<1x4096xf32>) -> tensor<8x1xf32>
    %after = ad.add %before, %product : tensor<8x1xf32>
    scf.yield %after : tensor<8x1xf32>
  }
  return %sum : tensor<8x1xf32>
}
