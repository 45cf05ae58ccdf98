// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-prepack-operands --ad-outline-kernels --ad-plan-memory | FileCheck %s
// RUN: ad-runner %s --arg p=normal:1 --arg x=normal:2 --arg g=normal:3 --out-dir %t.reference --target reference --numerics reproducible
// RUN: ad-runner %s --arg p=normal:1 --arg x=normal:2 --arg g=normal:3 --out-dir %t.cpu --numerics reproducible --repeat 2
// RUN: cmp %t.reference/p.npy %t.cpu/p.npy
// RUN: cmp %t.reference/e.npy %t.cpu/e.npy

// A weight is updated in the memory of the argument that it came in, though the program writes the update first: the readers of
// the old value run before.
// CHECK: func.func @main
// CHECK: %[[WEIGHT:.+]] = ad.buffer <argument, bytes = 4096>
// CHECK: scf.for {{.*}}iter_args(%[[OLD:[^ ]+]] = %{{[^ ]+}}, %{{.+}} = %{{.+}})
// CHECK-NEXT: ad.launch @{{[a-z_0-9]+}}(%{{.+}}, %[[OLD]]) into(%[[OTHER:.+]]) :
// CHECK-NEXT: %[[NEW:.+]] = ad.launch {{.*}}%[[OLD]]{{.*}} into(%[[WEIGHT]]) :
// CHECK: scf.yield %[[NEW]],
func.func @main(%p0: tensor<32x32xf32> {ad.name = "p", ad.donated = 0}, %x: tensor<8x32xf32> {ad.name = "x"},
                %g: tensor<8x32xf32> {ad.name = "g"})
    -> (tensor<32x32xf32> {ad.name = "p"}, tensor<8x32xf32> {ad.name = "e"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %rate = ad.constant dense<0.01> : tensor<f32>
  %p, %e = scf.for %i = %c0 to %c5 step %c1 iter_args(%q = %p0, %h = %g) -> (tensor<32x32xf32>, tensor<8x32xf32>) {
    %d = ad.dot %x, %h batch [] x [] contract [0] x [0] : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<32x32xf32>
    %s = ad.mul %d, %rate : tensor<32x32xf32>, tensor<f32>
    %new = ad.sub %q, %s : tensor<32x32xf32>
    %back = ad.dot %h, %q : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>
    %small = ad.tanh %back : tensor<8x32xf32>
    scf.yield %new, %small : tensor<32x32xf32>, tensor<8x32xf32>
  }
  return %p, %e : tensor<32x32xf32>, tensor<8x32xf32>
}
