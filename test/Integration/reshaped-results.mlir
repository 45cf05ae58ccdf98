// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner %s --target reference --arg x=arange --arg n=zeros --dim n.0=1 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --arg x=arange --arg n=zeros --dim n.0=1 --print | FileCheck %s
// RUN: ad-runner %s --target gpu-sim --arg x=arange --arg n=zeros --dim n.0=1 --print | FileCheck %s
// RUN: not ad-runner %s --target reference --arg x=arange --arg n=zeros --dim n.0=3 --print 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not ad-runner %s --target cpu --arg x=arange --arg n=zeros --dim n.0=3 --print 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not ad-runner %s --target gpu-sim --arg x=arange --arg n=zeros --dim n.0=3 --print 2>&1 | FileCheck %s --check-prefix=LONG

// The sum has three times the elements of the result where the open size is 3: it is not written into the memory of the
// result, which it would leave before the reshape fails.
// CHECK: y: tensor<2xi64> = [24 42]
// LONG: error: 'ad.reshape' op reshape: 6 elements cannot become 2
func.func @main(%x: tensor<2x2x3xi64> {ad.name = "x"}, %n: tensor<?xi8> {ad.name = "n"}) -> (tensor<2xi64> {ad.name = "y"}) {
  %zero = arith.constant 0 : index
  %size = tensor.dim %n, %zero : tensor<?xi8>
  %sum = ad.sum_to_shape %x(%size) : tensor<2x2x3xi64> -> tensor<1x2x?xi64>
  %y = ad.reshape %sum : tensor<1x2x?xi64> -> tensor<2xi64>
  return %y : tensor<2xi64>
}
