// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --canonicalize | FileCheck %s
// RUN: ad-opt %s --convert-arith-to-llvm -o /dev/null

// Outside of functions values may depend on themselves: folds end, and make nothing of them.

// CHECK: ad.reshape
// CHECK: ad.transpose
%x = ad.reshape %x : tensor<64x5xi32> -> tensor<64x5xi32>
%a = ad.reshape %b : tensor<5x64xi32> -> tensor<64x5xi32>
%b = ad.reshape %a : tensor<64x5xi32> -> tensor<5x64xi32>
%c = ad.transpose %d [1, 0] : tensor<5x64xi32>
%d = ad.transpose %c [1, 0] : tensor<64x5xi32>
%e = ad.transpose %e [1, 0] : tensor<5x5xi32>
%f = ad.reverse %f axes [0] : tensor<5x5xi32>
%g = ad.broadcast %g : tensor<5x5xi32> -> tensor<5x5xi32>
"func.call"(%x, %b, %d, %e, %f, %g) {callee = @use} : (tensor<64x5xi32>, tensor<5x64xi32>, tensor<5x64xi32>, tensor<5x5xi32>, tensor<5x5xi32>, tensor<5x5xi32>) -> ()
func.func private @use(tensor<64x5xi32>, tensor<5x64xi32>, tensor<5x64xi32>, tensor<5x5xi32>, tensor<5x5xi32>, tensor<5x5xi32>)
