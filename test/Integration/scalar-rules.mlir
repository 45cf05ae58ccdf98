// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalar code has one result for all operands (docs/numerics.md), whatever flags and folders say.
//
// RUN: ad-runner %s --cache off --print --target reference | FileCheck %s
// RUN: ad-runner %s --cache off --print | FileCheck %s
// RUN: ad-runner %s --cache off --print -O0 | FileCheck %s
// RUN: ad-runner %s --cache off --print --target gpu-sim | FileCheck %s
// RUN: ad-runner %s --cache off --print --entry floats --target reference | FileCheck %s --check-prefix=FLOATS
// RUN: ad-runner %s --cache off --print --entry floats | FileCheck %s --check-prefix=FLOATS
// RUN: ad-runner %s --cache off --print --entry floats -O0 | FileCheck %s --check-prefix=FLOATS
// RUN: ad-runner %s --cache off --print --entry floats --target gpu-sim | FileCheck %s --check-prefix=FLOATS

// 300 as an index, through i8 and back.
// CHECK: res0: tensor<i64> = 44
// Bytes: (100 * 100) / 100 wraps to 16 / 100 although the flag promises that nothing wraps.
// CHECK: res1: tensor<i8> = 0
// An i1 of -1, saturated from -3.0, as a signed number.
// CHECK: res2: tensor<i32> = -1
// 65535 without a sign, from 1.0e9.
// CHECK: res3: tensor<i32> = 65535
// CHECK: res4: tensor<i64> = -1
func.func @main() -> (tensor<i64>, tensor<i8>, tensor<i32>, tensor<i32>, tensor<i64>) {
  %n0 = ad.constant dense<300> : tensor<i64>
  %n1 = ad.barrier %n0 : tensor<i64>
  %n = tensor.extract %n1[] : tensor<i64>
  %index = arith.index_cast %n : i64 to index
  %byte = arith.index_cast %index : index to i8
  %back = arith.index_cast %byte : i8 to index
  %a = arith.index_cast %back : index to i64
  %hundred0 = arith.trunci %n : i64 to i8
  %c56 = arith.constant 56 : i8
  %hundred = arith.addi %hundred0, %c56 : i8
  %product = arith.muli %hundred, %hundred overflow<nsw> : i8
  %b = arith.divsi %product, %hundred : i8
  %x0 = ad.constant dense<[-3.0, 1.0e9]> : tensor<2xf32>
  %x1 = ad.barrier %x0 : tensor<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tensor.extract %x1[%c0] : tensor<2xf32>
  %y = tensor.extract %x1[%c1] : tensor<2xf32>
  %bit = arith.fptosi %x : f32 to i1
  %c = arith.extsi %bit : i1 to i32
  %short = arith.fptoui %y : f32 to i16
  %d = arith.extui %short : i16 to i32
  %large = arith.constant 1.0e30 : f32
  %e = arith.fptoui %large : f32 to i64
  %ta = ad.full %a : i64 -> tensor<i64>
  %tb = ad.full %b : i8 -> tensor<i8>
  %tc = ad.full %c : i32 -> tensor<i32>
  %td = ad.full %d : i32 -> tensor<i32>
  %te = ad.full %e : i64 -> tensor<i64>
  return %ta, %tb, %tc, %td, %te : tensor<i64>, tensor<i8>, tensor<i32>, tensor<i32>, tensor<i64>
}

// inf * 0 is NaN although the flags promise that there is none. (The bits of a NaN are not in the contract.)
// FLOATS: res0: tensor<f32> = 1.
// maxnumf prefers numbers, and +0.
// FLOATS: res1: tensor<f32> = 2.
// FLOATS: res2: tensor<f32> = inf
// All NaN have the same bits.
// FLOATS: res3: tensor<i32> = 2143289344
// 2^63 + 1 without a sign, in one rounding.
// FLOATS: res4: tensor<f64> = 9223372036854775808.
func.func @floats() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<f64>) {
  %x0 = ad.constant dense<[0x7F800000, 0xFFC00001, -0.0]> : tensor<3xf32>
  %x1 = ad.barrier %x0 : tensor<3xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %inf = tensor.extract %x1[%c0] : tensor<3xf32>
  %nan = tensor.extract %x1[%c1] : tensor<3xf32>
  %minus = tensor.extract %x1[%c2] : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %a = arith.mulf %inf, %zero fastmath<nnan,nsz> : f32
  %b = arith.maxnumf %nan, %two : f32
  %plus = arith.maxnumf %minus, %zero : f32
  %c = arith.divf %one, %plus : f32
  %d = arith.bitcast %nan : f32 to i32
  %n0 = ad.constant dense<-9223372036854775807> : tensor<i64>
  %n1 = ad.barrier %n0 : tensor<i64>
  %n = tensor.extract %n1[] : tensor<i64>
  %e = arith.uitofp %n : i64 to f64
  %is_nan = arith.cmpf uno, %a, %a : f32
  %as_number = arith.uitofp %is_nan : i1 to f32
  %ta = ad.full %as_number : f32 -> tensor<f32>
  %tb = ad.full %b : f32 -> tensor<f32>
  %tc = ad.full %c : f32 -> tensor<f32>
  %td = ad.full %d : i32 -> tensor<i32>
  %te = ad.full %e : f64 -> tensor<f64>
  return %ta, %tb, %tc, %td, %te : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<f64>
}
