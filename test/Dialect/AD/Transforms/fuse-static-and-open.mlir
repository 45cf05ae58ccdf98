// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion | FileCheck %s

// Kernels see types: y and z have the same sizes, but a fusion of both would sum a row again for each element
// of z.
// CHECK-LABEL: @rows
// CHECK: ad.fusion reduce {{.*}} -> (tensor<?x1xf32>, tensor<?x5000xf32>)
// CHECK: ad.fusion {{.*}} -> tensor<?x?xf32>
func.func @rows(%x: tensor<?x5000xf32>) -> (tensor<?x5000xf32>, tensor<?x?xf32>) {
  %s = ad.reduce_sum %x axes [1] keep_dims : tensor<?x5000xf32> -> tensor<?x1xf32>
  %y = ad.mul %x, %s : tensor<?x5000xf32>, tensor<?x1xf32>
  %axis = arith.constant 0 : index
  %length = arith.constant 5000 : index
  %rows = tensor.dim %x, %axis : tensor<?x5000xf32>
  %open = ad.broadcast %s(%rows, %length) : tensor<?x1xf32> -> tensor<?x?xf32>
  %z = ad.exp %open : tensor<?x?xf32>
  return %y, %z : tensor<?x5000xf32>, tensor<?x?xf32>
}

// With the same types all of it is one kernel.
// CHECK-LABEL: @same_types
// CHECK: ad.fusion reduce
// CHECK-NOT: ad.fusion
func.func @same_types(%x: tensor<?x5000xf32>) -> (tensor<?x5000xf32>, tensor<?x5000xf32>) {
  %s = ad.reduce_sum %x axes [1] keep_dims : tensor<?x5000xf32> -> tensor<?x1xf32>
  %y = ad.mul %x, %s : tensor<?x5000xf32>, tensor<?x1xf32>
  %axis = arith.constant 0 : index
  %rows = tensor.dim %x, %axis : tensor<?x5000xf32>
  %repeated = ad.broadcast %s(%rows) : tensor<?x1xf32> -> tensor<?x5000xf32>
  %z = ad.exp %repeated : tensor<?x5000xf32>
  return %y, %z : tensor<?x5000xf32>, tensor<?x5000xf32>
}
