// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels too short for threads, one after the other and independent, are one call of the runtime.
//
// RUN: ad-opt %s --ad-to-cpu=fuse=single | FileCheck %s
// RUN: ad-opt %s --ad-to-cpu="fuse=single profile" | FileCheck %s --check-prefix=PROFILE

// PROFILE-NOT: adrt_parallel_loops

// Three units of work follow each other and read the same argument.
// CHECK-LABEL: llvm.func @adrt_entry_independent
// CHECK: %[[LOOPS:.+]] = llvm.mlir.constant(3 : i64) : i64
// CHECK-NEXT: llvm.alloca %[[LOOPS]] x !llvm.struct<(ptr, ptr, i64, i64)>
// CHECK: llvm.call @adrt_parallel_loops
// CHECK-NOT: llvm.call @adrt_parallel
// CHECK: llvm.return
func.func @independent(%x: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) {
  %a = ad.exp %x : tensor<64x128xf32>
  %b = ad.tanh %x : tensor<64x128xf32>
  %c = ad.sin %x : tensor<64x128xf32>
  return %a, %b, %c : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>
}

// The second one reads what the first one writes, the third one what the second one does.
// CHECK-LABEL: llvm.func @adrt_entry_chain
// CHECK-NOT: llvm.call @adrt_parallel_loops
// CHECK: llvm.return
func.func @chain(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %a = ad.exp %x : tensor<64x128xf32>
  %b = ad.tanh %a : tensor<64x128xf32>
  %c = ad.sin %b : tensor<64x128xf32>
  return %c : tensor<64x128xf32>
}

// Two products read what the first kernel writes, and the last kernel reads both.
// CHECK-LABEL: llvm.func @adrt_entry_diamond
// CHECK: llvm.call @adrt_parallel_for
// CHECK: llvm.call @adrt_parallel_loops
// CHECK: llvm.call @adrt_parallel_for
// CHECK-NOT: llvm.call @adrt_parallel
// CHECK: llvm.return
func.func @diamond(%x: tensor<64x128xf32>, %v: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<64x128xf32> {
  %a = ad.exp %x : tensor<64x128xf32>
  %b = ad.dot %a, %v contract [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  %c = ad.dot %a, %w contract [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  %d = ad.mul %b, %c : tensor<64x128xf32>
  return %d : tensor<64x128xf32>
}

// The third kernel writes over %a, which the second one reads.
// CHECK-LABEL: llvm.func @adrt_entry_overwrites
// CHECK-NOT: llvm.call @adrt_parallel_loops
// CHECK: llvm.return
func.func @overwrites(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %a = ad.exp %x : tensor<64x128xf32>
  %b = ad.tanh %a : tensor<64x128xf32>
  %c = ad.sin %a : tensor<64x128xf32>
  %d = ad.mul %b, %c : tensor<64x128xf32>
  return %d : tensor<64x128xf32>
}

// A loop reads what the kernel before it writes; both kernels of an iteration end before the next one.
// CHECK-LABEL: llvm.func @adrt_entry_loop
// CHECK: llvm.call @adrt_parallel_for
// CHECK: llvm.br ^[[HEAD:.+]](%{{.+}} : i64)
// CHECK: ^[[HEAD]](
// CHECK: llvm.call @adrt_parallel_loops
// CHECK: llvm.br ^[[HEAD]](
func.func @loop(%x: tensor<64x128xf32>, %v: tensor<128x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %a = ad.dot %x, %v contract [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  %c:2 = scf.for %i = %zero to %ten step %one iter_args(%b = %a, %d = %x) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
    %e = ad.dot %b, %v contract [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %f = ad.dot %d, %v contract [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    scf.yield %e, %f : tensor<64x128xf32>, tensor<64x128xf32>
  }
  return %c#0, %c#1 : tensor<64x128xf32>, tensor<64x128xf32>
}

// The second kernel writes over an argument that the host has given away, which the first one reads.
// CHECK-LABEL: llvm.func @adrt_entry_donated
// CHECK-NOT: llvm.call @adrt_parallel_loops
// CHECK: llvm.return
func.func @donated(%x: tensor<64x128xf32> {ad.donated = 1}) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %a = ad.tanh %x : tensor<64x128xf32>
  %b = ad.sin %x : tensor<64x128xf32>
  return %a, %b : tensor<64x128xf32>, tensor<64x128xf32>
}

// A copy of what two kernels write comes after them.
// CHECK-LABEL: llvm.func @adrt_entry_chosen
// CHECK: llvm.call @adrt_parallel_loops
// CHECK: llvm.select %{{.+}}, %{{.+}}, %{{.+}} : i1, !llvm.ptr
// CHECK: llvm.return
func.func @chosen(%x: tensor<64x128xf32>, %i: tensor<i32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0 : i32
  %number = tensor.extract %i[] : tensor<i32>
  %isZero = arith.cmpi eq, %number, %zero : i32
  %a = ad.tanh %x : tensor<64x128xf32>
  %b = ad.sin %x : tensor<64x128xf32>
  %c = arith.select %isZero, %a, %b : tensor<64x128xf32>
  return %c : tensor<64x128xf32>
}
