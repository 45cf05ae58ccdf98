// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-emit-cpu --convert-host-to-llvm | FileCheck %s
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-emit-cpu --convert-host-to-llvm=profile=true \
// RUN:   | FileCheck %s --check-prefix=TIMED

// The kernel is a part of the loop: one element is scalar code, what the loop carries is a variable on the stack, and the
// program polls once per strip. The result is copied into the memory of the host at the end.
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @adrt_entry_scalar
// CHECK: %[[SLOT:.+]] = llvm.alloca %{{.+}} x i8 {alignment = 64 : i64}
// CHECK: %[[RESULT:.+]] = llvm.call @adrt_result
// CHECK: scf.for unsigned
// CHECK-NEXT: llvm.call @adrt_poll
// CHECK: scf.for unsigned
// CHECK-NOT: call
// CHECK: llvm.load %[[SLOT]] {{.*}} : !llvm.ptr -> f32
// CHECK: arith.mulf %{{.+}} : f32
// CHECK-NOT: call
// CHECK: llvm.store %{{.+}}, %[[SLOT]]
// CHECK: "llvm.intr.memcpy"(%[[RESULT]], %[[SLOT]]
// TIMED: scf.for unsigned
// TIMED: llvm.call @adrt_kernel_begin
// TIMED: arith.mulf %{{.+}} : f32
// TIMED: llvm.call @adrt_kernel_end
func.func @scalar(%a: tensor<f32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100000 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<f32> {
    %p = ad.mul %v, %a : tensor<f32>
    scf.yield %p : tensor<f32>
  }
  return %r : tensor<f32>
}

// Eight elements are one vector of eight lanes, and ten are vectors of eight and of two, without masks. Few iterations need no
// poll.
// CHECK-LABEL: func.func @adrt_entry_vectors
// CHECK-NOT: adrt_poll
// CHECK: arith.mulf %{{.+}} : vector<8xf32>
// CHECK-NOT: masked
// CHECK: arith.mulf %{{.+}} : vector<8xf32>
// CHECK: arith.mulf %{{.+}} : vector<2xf32>
// CHECK-NOT: masked
// CHECK: return
func.func @vectors(%x: tensor<8xf32>, %y: tensor<10xf32>) -> (tensor<8xf32>, tensor<10xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 30 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %w = %y) -> (tensor<8xf32>, tensor<10xf32>) {
    %p = ad.mul %v, %x : tensor<8xf32>
    %q = ad.mul %w, %y : tensor<10xf32>
    scf.yield %p, %q : tensor<8xf32>, tensor<10xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<10xf32>
}
