// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Errors of running programs look like errors of the compiler, on both targets, also for programs from the cache.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry shapes --arg arg0=arange --dim arg0.0=2 --arg arg1=arange --dim arg1.0=3 2>&1 | FileCheck %s --check-prefix=SHAPES
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry shapes --arg arg0=arange --dim arg0.0=2 --arg arg1=arange --dim arg1.0=3 2>&1 | FileCheck %s --check-prefix=SHAPES
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry shapes --arg arg0=arange --dim arg0.0=2 --arg arg1=arange --dim arg1.0=3 --target reference 2>&1 | FileCheck %s --check-prefix=SHAPES
// RUN: ad-runner %s --entry shapes --arg arg0=arange --dim arg0.0=1 --arg arg1=arange --dim arg1.0=3 --print | FileCheck %s --check-prefix=BROADCAST
// BROADCAST: res0: tensor<3xf32> = [0. 1. 2.]
// SHAPES: errors.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: 'ad.add' op broadcast: dimension 0 has sizes 2 and 3, neither is 1
// SHAPES-NEXT: %0 = ad.add
func.func @shapes(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ad.add %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Parameters do not broadcast. An error of a decomposition names the operation of the source.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry norm --arg arg0=arange --dim arg0.1=4 --arg arg1=arange --dim arg1.0=1 2>&1 | FileCheck %s --check-prefix=NORM
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry norm --arg arg0=arange --dim arg0.1=4 --arg arg1=arange --dim arg1.0=1 --target reference 2>&1 | FileCheck %s --check-prefix=NORM
// NORM: errors.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'ad.rms_norm' op dimension 0 must have size 4, but has 1
func.func @norm(%x: tensor<2x?xf32>, %s: tensor<?xf32>) -> tensor<2x?xf32> {
  %0 = ad.rms_norm %x, %s epsilon 1.0e-5 : tensor<2x?xf32>, tensor<?xf32>
  return %0 : tensor<2x?xf32>
}

// Labels do not broadcast either, and the bias of a gemm only along axes of size 1.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry entropy --arg arg0=arange --dim arg0.0=4 --arg arg1=zeros --dim arg1.0=5 2>&1 | FileCheck %s --check-prefix=ENTROPY
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry entropy --arg arg0=arange --dim arg0.0=4 --arg arg1=zeros --dim arg1.0=5 --target reference 2>&1 | FileCheck %s --check-prefix=ENTROPY
// ENTROPY: errors.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'ad.cross_entropy' op dimension 0 must have size 4, but has 5
func.func @entropy(%x: tensor<?x3xf32>, %c: tensor<?xi32>) -> tensor<?xf32> {
  %0 = ad.cross_entropy %x, %c : tensor<?x3xf32>, tensor<?xi32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry bias --arg arg0=arange --arg arg1=arange --dim arg1.1=4 --arg arg2=zeros --dim arg2.0=2 2>&1 | FileCheck %s --check-prefix=BIAS
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry bias --arg arg0=arange --arg arg1=arange --dim arg1.1=4 --arg arg2=zeros --dim arg2.0=2 --target reference 2>&1 | FileCheck %s --check-prefix=BIAS
// BIAS: errors.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'ad.gemm' op broadcast: dimension 1 has sizes 4 and 2, neither is 1
func.func @bias(%x: tensor<2x3xf32>, %w: tensor<3x?xf32>, %b: tensor<?xf32>) -> tensor<2x?xf32> {
  %0 = ad.gemm %x, %w, %b : (tensor<2x3xf32>, tensor<3x?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// RUN: %python %S/Inputs/exits.py 3 ad-runner %s --entry check --arg arg0=arange 2>&1 | FileCheck %s --check-prefix=CHECKED
// RUN: %python %S/Inputs/exits.py 3 ad-runner %s --entry check --arg arg0=arange --target reference 2>&1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: errors.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: 'check.expect_eq' op failed at [1]: got 2 (0x40000000), expected 1 (0x3f800000); largest difference 2 at [2]; 2 of 3 elements differ
func.func @check(%a: tensor<3xf32>) -> tensor<3xf32> {
  %expected = ad.barrier %a : tensor<3xf32>
  %twice = ad.add %a, %a : tensor<3xf32>
  check.expect_eq(%twice, %expected) : tensor<3xf32>
  return %twice : tensor<3xf32>
}

// RUN: echo 'func.func @main(' > %t.mlir
// RUN: %python %S/Inputs/exits.py 1 ad-runner %t.mlir 2>&1 | FileCheck %s --check-prefix=PARSE
// PARSE: {{.*}}.mlir:1:17: error: expected
// PARSE-NOT: ad-runner: error

// RUN: echo 'func.func @main(%%a: vector<4xf32>) { return }' > %t.mlir
// RUN: %python %S/Inputs/exits.py 1 ad-runner %t.mlir 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: echo 'func.func @main(%%a: tensor<4xi16>) { return }' > %t.short.mlir
// RUN: %python %S/Inputs/exits.py 1 ad-runner %t.short.mlir 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: .mlir:1:17: error: 'func.func' op has value 'arg0' of type tensor<4xi16>, expected a ranked tensor of {{.*}} i32 or i64, not of i16
// VECTOR: .mlir:1:17: error: 'func.func' op has value 'arg0' of type vector<4xf32>, expected a ranked tensor

// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry handed_over 2>&1 | FileCheck %s --check-prefix=HANDED
// HANDED: errors.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: 'ad.receive' op sends 2 values as 'y', elsewhere 1
func.func @handed_over() {
  %x = ad.constant dense<1.0> : tensor<2xf32>
  ad.receive "y"(%x) : tensor<2xf32>
  ad.receive "y"(%x, %x) : tensor<2xf32>, tensor<2xf32>
  return
}

// RUN: %python %S/Inputs/exits.py 2 ad-runner %s --entry one_file --arg arg0=zeros --out-dir %t.one 2>&1 | FileCheck %s --check-prefix=FILES
// FILES: ad-runner: error: result 'a/b' and result 'a_b' would both be written to a_b.npy, give one of them another name
func.func @one_file(%x: tensor<2xf32>) -> (tensor<2xf32> {ad.name = "a/b"}, tensor<2xf32> {ad.name = "a_b"}) {
  return %x, %x : tensor<2xf32>, tensor<2xf32>
}

// RUN: %python %S/Inputs/npy.py make %t.npy "<f4" 4x2
// RUN: %python %S/Inputs/exits.py 2 ad-runner %s --entry feed_size --arg arg0=zeros --feed x=%t.npy 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: %python %S/Inputs/exits.py 2 ad-runner %s --entry feed_size --arg arg0=zeros --feed x=%t.npy --target reference 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: errors.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: 'ad.feed' op feed 'x': the program requests a tensor<0xf32>, '{{.*}}.npy' holds values of type tensor<2xf32>
func.func @feed_size(%n: tensor<i64>) -> tensor<?xf32> {
  %i = tensor.extract %n[] : tensor<i64>
  %size = arith.index_cast %i : i64 to index
  %x = ad.feed "x"(%size) : tensor<?xf32>
  return %x : tensor<?xf32>
}

// A carry keeps its sizes, also in a loop of one iteration.
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry carry --arg arg0=arange --dim arg0.0=3 2>&1 | FileCheck %s --check-prefix=CARRY
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --entry carry --arg arg0=arange --dim arg0.0=3 --target reference 2>&1 | FileCheck %s --check-prefix=CARRY
func.func @carry(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CARRY: errors.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'scf.for' op loop carry 0: dimension 0 changes from size 3 to 6
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %1 = ad.concat axis 0 %a, %a : tensor<?xf32>, tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
