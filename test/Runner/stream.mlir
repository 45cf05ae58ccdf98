// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Feeds stream along the first axis of a file; received values are appended to a file; both targets do the same.
// RUN: %python %S/Inputs/npy.py make %t.npy "<f4" 4x2
// RUN: ad-runner %s --feed x=%t.npy --arg start=zeros --out-dir %t.cpu --print | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.cpu/partial.npy %t.cpu/total.npy | FileCheck %s --check-prefix=FILES
// RUN: ad-runner %s --feed x=%t.npy --arg start=zeros --out-dir %t.ref --target reference
// RUN: cmp %t.cpu/partial.npy %t.ref/partial.npy
// RUN: cmp %t.cpu/total.npy %t.ref/total.npy
// CHECK: partial: tensor<2xf32> = [0. 1.]
// CHECK-NEXT: partial: tensor<2xf32> = [2. 4.]
// CHECK-NEXT: partial: tensor<2xf32> = [6. 9.]
// CHECK-NEXT: total: tensor<2xf32> = [6. 9.]
// FILES: <f4 (3, 2) [0.0, 1.0, 2.0, 4.0, 6.0, 9.0]
// FILES: <f4 (2,) [6.0, 9.0]

// The error of a feed that ends early has its location; values received before are written.
// RUN: %python %S/Inputs/npy.py make %t.short.npy "<f4" 2x2
// RUN: %python %S/Inputs/exits.py 2 ad-runner %s --feed x=%t.short.npy --arg start=zeros --out-dir %t.out 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: %python %S/Inputs/npy.py show %t.out/partial.npy | FileCheck %s --check-prefix=KEPT
// RUN: ad-runner %s --feed x=%t.short.npy,cycle --arg start=zeros --print | FileCheck %s --check-prefix=CYCLE
// SHORT: stream.mlir:[[#@LINE+11]]:{{[0-9]+}}: error: 'ad.feed' op feed 'x': '{{.*}}' is used up after 2 values, append ',cycle' to start over
// SHORT-NEXT: ad.feed "x"
// KEPT: <f4 (2, 2) [0.0, 1.0, 2.0, 4.0]
// CYCLE: total: tensor<2xf32> = [2. 5.]
// RUN: ad-runner %s --feed x=arange --arg start=zeros --print --repeat 2 --out-dir %t.twice | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.twice/partial.npy %t.twice/total.npy | FileCheck %s --check-prefix=FILES
func.func @main(%start: tensor<2xf32> {ad.name = "start"}) -> (tensor<2xf32> {ad.name = "total"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 3 : index
  %total = scf.for %i = %zero to %count step %one iter_args(%sum = %start) -> tensor<2xf32> {
    %x = ad.feed "x" : tensor<2xf32>
    %next = ad.add %sum, %x : tensor<2xf32>
    ad.receive "partial"(%next) : tensor<2xf32>
    scf.yield %next : tensor<2xf32>
  }
  return %total : tensor<2xf32>
}
