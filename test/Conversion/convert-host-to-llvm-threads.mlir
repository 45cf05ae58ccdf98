// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu | FileCheck %s

// A launch of several units passes the estimated nanoseconds of all units on one thread: 0.4 for each element of a product. If
// sizes are dynamic, a function computes the estimate.
// CHECK-LABEL: llvm.func @adrt_entry_main
// CHECK: %[[TIME:.+]] = llvm.mlir.constant(838860 : i64) : i64
// CHECK: llvm.call @adrt_parallel_for(%{{.+}}, %{{.+}}, %[[TIME]], %{{.+}}, %{{.+}}) : (!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> ()
func.func @main(%x: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  %y = ad.mul %x, %x : tensor<2048x1024xf32>
  return %y : tensor<2048x1024xf32>
}

// CHECK-LABEL: llvm.func @adrt_entry_open
// CHECK: %[[TIME:.+]] = llvm.call @{{.+}}$nanoseconds({{.+}}) : (!llvm.ptr, i64, !llvm.ptr, i64) -> i64
// CHECK: llvm.call @adrt_parallel_for(%{{.+}}, %{{.+}}, %[[TIME]], %{{.+}}, %{{.+}})
func.func @open(%x: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %y = ad.mul %x, %x : tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}
