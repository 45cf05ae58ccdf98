// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-set-numerics --ad-specialize-sizes | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-set-numerics --ad-specialize-sizes --ad-simplify | FileCheck %s --check-prefix=SIMPLE

// One test for three arguments; the version for equal sizes has no broadcast, the other one has them all.
// CHECK-LABEL: func.func @three
// CHECK-SAME: %[[X:.+]]: tensor<?x4xf32>, %[[Y:.+]]: tensor<?x4xf32>, %[[B:.+]]: tensor<?x1xf32>
// CHECK: %[[P:.+]] = tensor.dim %[[X]]
// CHECK: arith.cmpi eq
// CHECK: arith.cmpi eq
// CHECK: %[[SAME:.+]] = arith.andi
// CHECK: scf.if %[[SAME]]
// CHECK: ad.reshape %[[Y]]({{.+}}) {{.*}}: tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK: ad.reshape %[[B]]({{.+}}) {{.*}}: tensor<?x1xf32> -> tensor<?x1xf32>
// SIMPLE-LABEL: func.func @three
// SIMPLE: scf.if
// SIMPLE-COUNT-1: ad.broadcast
// SIMPLE-NOT: ad.broadcast
// SIMPLE: } else {
// SIMPLE-COUNT-4: ad.broadcast
// SIMPLE: return
func.func @three(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %b: tensor<?x1xf32>) -> tensor<?x4xf32> {
  %0 = ad.add %x, %y : tensor<?x4xf32>
  %1 = ad.mul %0, %b : tensor<?x4xf32>, tensor<?x1xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// Sizes that one argument has are compared with nothing.
// CHECK-LABEL: func.func @one
// CHECK-NOT: scf.if
func.func @one(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ad.exp %x : tensor<?xf32>
  %1 = ad.add %x, %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A size that is a number by the type of another argument.
// CHECK-LABEL: func.func @number
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>
// CHECK: %[[EIGHT:.+]] = arith.constant 8 : index
// CHECK: arith.cmpi eq, %{{.+}}, %[[EIGHT]] : index
// SIMPLE-LABEL: func.func @number
// SIMPLE: scf.if
// SIMPLE: ad.reshape %{{.+}} : tensor<?xf32> -> tensor<8xf32>
// SIMPLE: } else {
// SIMPLE: ad.broadcast
func.func @number(%x: tensor<?xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = ad.add %x, %y : tensor<?xf32>, tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Sizes of concatenations and of written arithmetic follow from those of the arguments.
// CHECK-LABEL: func.func @computed
// CHECK: %[[SAME:.+]] = arith.andi
// CHECK: scf.if %[[SAME]]
// SIMPLE-LABEL: func.func @computed
// SIMPLE: scf.if
// SIMPLE-NOT: ad.broadcast
// SIMPLE: } else {
func.func @computed(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ad.concat axis 0 %x, %y : tensor<?xf32>, tensor<?xf32>
  %1 = ad.concat axis 0 %z, %w : tensor<?xf32>, tensor<?xf32>
  %2 = ad.add %0, %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// A loop carries a parameter whose size is that of an axis of the data.
// SIMPLE-LABEL: func.func @loop
// SIMPLE: scf.if
// SIMPLE-NOT: ad.broadcast
// SIMPLE: } else {
func.func @loop(%w: tensor<?xf32>, %x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%v = %w) -> tensor<?xf32> {
    %g = ad.reduce_sum %x axes [0] : tensor<?x?xf32> -> tensor<?xf32>
    %n = ad.sub %v, %g : tensor<?xf32>
    scf.yield %n : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Both sides of a branch give a tensor of one size.
// SIMPLE-LABEL: func.func @branch
// SIMPLE: scf.if
// SIMPLE-NOT: ad.broadcast
// SIMPLE: ad.add
// SIMPLE: } else {
// SIMPLE: ad.broadcast
func.func @branch(%x: tensor<?xf32>, %y: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  %b = scf.if %c -> tensor<?xf32> {
    %0 = ad.exp %x : tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  } else {
    %0 = ad.neg %x : tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  %r = ad.add %b, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Two numbers are never one size: such a program always stops at the broadcast, in one version.
// CHECK-LABEL: func.func @never
// CHECK-NOT: scf.if
func.func @never(%x: tensor<?xf32>, %y: tensor<8xf32>, %z: tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>) {
  %0 = ad.add %x, %y : tensor<?xf32>, tensor<8xf32>
  %1 = ad.add %x, %z : tensor<?xf32>, tensor<9xf32>
  return %0, %1 : tensor<8xf32>, tensor<9xf32>
}
