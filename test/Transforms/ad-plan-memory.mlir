// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-ad-to-linalg --ad-outline-kernels --ad-plan-memory | FileCheck %s
//
// Buffers are four numbers: home (0 a pool, 1 an argument, 2 a result), number, offset, bytes.

// Elementwise kernels write over what dies; the last one writes where the host gets the result.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: ad.arena_bytes = 4096
// CHECK-SAME: ad.buffers = array<i64: 0, 0, 0, 4096, 2, 0, 0, 4096>
func.func @chain(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = ad.fusion elementwise (%v = %x) : (tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = ad.exp %v : tensor<1024xf32>
    ad.yield %0 : tensor<1024xf32>
  }
  %b = ad.fusion elementwise (%v = %a) : (tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = ad.exp %v : tensor<1024xf32>
    ad.yield %0 : tensor<1024xf32>
  }
  %c = ad.fusion elementwise (%v = %b) : (tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = ad.exp %v : tensor<1024xf32>
    ad.yield %0 : tensor<1024xf32>
  }
  return %c : tensor<1024xf32>
}

// A carry is updated in place when its old value is dead; it lies where the result does.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: ad.buffers = array<i64: 2, 0, 0, 4096>
// CHECK: ad.launch {{.*}}ad.buffer = array<i64: [[CARRY:[0-9]+]]>
// CHECK: } {ad.buffer = array<i64: [[CARRY]]>
func.func @in_place(%x: tensor<1024xf32>, %n: index) -> tensor<1024xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<1024xf32> {
    %a = ad.fusion elementwise (%w = %v) : (tensor<1024xf32>) -> tensor<1024xf32> {
      %0 = ad.exp %w : tensor<1024xf32>
      ad.yield %0 : tensor<1024xf32>
    }
    scf.yield %a : tensor<1024xf32>
  }
  return %r : tensor<1024xf32>
}

// A transposition reads other elements than it writes: the carry may not be overwritten.
// CHECK-LABEL: func.func @not_in_place
// CHECK-SAME: ad.buffers = array<i64: 2, 0, 0, 4096, 0, 0, 0, 4096>
func.func @not_in_place(%x: tensor<32x32xf32>, %n: index) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<32x32xf32> {
    %a = ad.fusion movement (%w = %v) : (tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = ad.transpose %w [1, 0] : tensor<32x32xf32>
      ad.yield %0 : tensor<32x32xf32>
    }
    scf.yield %a : tensor<32x32xf32>
  }
  return %r : tensor<32x32xf32>
}

// The update of a parameter inside the contraction that makes its gradient.
// CHECK-LABEL: func.func @update_in_place
// CHECK-SAME: ad.buffers = array<i64: 2, 0, 0, 4096>
// CHECK: ad.launch {{.*}}ad.buffer = array<i64: [[CARRY:[0-9]+]]>
// CHECK: } {ad.buffer = array<i64: [[CARRY]]>
func.func @update_in_place(%p0: tensor<32x32xf32>, %x: tensor<8x32xf32>, %g: tensor<8x32xf32>, %n: index) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0) -> tensor<32x32xf32> {
    %a = ad.fusion dot (%q = %p, %u = %x, %v = %g) : (tensor<32x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<32x32xf32> {
      %0 = ad.dot %u, %v batch [] x [] contract [0] x [0] : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<32x32xf32>
      %1 = ad.sub %q, %0 : tensor<32x32xf32>
      ad.yield %1 : tensor<32x32xf32>
    }
    scf.yield %a : tensor<32x32xf32>
  }
  return %r : tensor<32x32xf32>
}

// The contraction reads the whole parameter: what is written early would be read late.
// CHECK-LABEL: func.func @contracted_itself
// CHECK-SAME: ad.buffers = array<i64: 2, 0, 0, 4096, 0, 0, 0, 4096>
func.func @contracted_itself(%p0: tensor<32x32xf32>, %x: tensor<32x32xf32>, %n: index) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0) -> tensor<32x32xf32> {
    %a = ad.fusion dot (%q = %p, %u = %x) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = ad.dot %u, %q : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %1 = ad.sub %q, %0 : tensor<32x32xf32>
      ad.yield %1 : tensor<32x32xf32>
    }
    scf.yield %a : tensor<32x32xf32>
  }
  return %r : tensor<32x32xf32>
}
