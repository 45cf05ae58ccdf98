// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-ad-to-linalg --ad-outline-kernels --ad-plan-memory --remarks-filter='ad-memory' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// The result is in the memory of the argument.
// CHECK-LABEL: func.func @taken
// CHECK-NEXT: %[[ARGUMENT:.+]] = ad.buffer <argument, bytes = 16>
// CHECK-NEXT: ad.launch {{.*}}into(%[[ARGUMENT]])
// REMARK: [Passed] donated {{.*}}argument=0{{.*}}result=0
func.func @taken(%x: tensor<4xf32> {ad.donated = 0}) -> tensor<4xf32> {
  %y = ad.fusion elementwise (%v = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = ad.exp %v : tensor<4xf32>
    ad.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// A loop starts in the argument and ends there.
// CHECK-LABEL: func.func @carried
// CHECK-NEXT: %[[ARGUMENT:.+]] = ad.buffer <argument, bytes = 16>
// CHECK-NOT: ad.buffer
// CHECK-NOT: ad.copy
// CHECK: ad.launch {{.*}}into(%[[ARGUMENT]])
// REMARK: [Passed] donated
func.func @carried(%x: tensor<4xf32> {ad.donated = 0}, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    %a = ad.fusion elementwise (%w = %v) : (tensor<4xf32>) -> tensor<4xf32> {
      %0 = ad.exp %w : tensor<4xf32>
      ad.yield %0 : tensor<4xf32>
    }
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The loop needs what it starts with in every iteration.
// CHECK-LABEL: func.func @read_in_loop
// CHECK-NEXT: ad.buffer <argument, bytes = 16>
// CHECK-NEXT: %[[RESULT:.+]] = ad.buffer <result, bytes = 16>
// CHECK: ad.launch {{.*}}into(%[[RESULT]])
// REMARK: [Missed] not-donated {{.*}}read after the result is written
func.func @read_in_loop(%x: tensor<4xf32> {ad.donated = 0}, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    %a = ad.fusion elementwise (%w = %v, %u = %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
      %0 = ad.add %w, %u : tensor<4xf32>
      ad.yield %0 : tensor<4xf32>
    }
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @transposed
// CHECK-NEXT: ad.buffer <argument, bytes = 64>
// CHECK-NEXT: %[[RESULT:.+]] = ad.buffer <result, bytes = 64>
// CHECK: ad.launch {{.*}}into(%[[RESULT]])
// REMARK: [Missed] not-donated {{.*}}reads other elements of it
func.func @transposed(%x: tensor<4x4xf32> {ad.donated = 0}) -> tensor<4x4xf32> {
  %y = ad.fusion movement (%v = %x) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = ad.transpose %v [1, 0] : tensor<4x4xf32>
    ad.yield %0 : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// Both results are the argument: one of them is a copy, made when the program ends.
// CHECK-LABEL: func.func @returned_itself
// REMARK: [Missed] not-donated {{.*}}the result is an argument or a constant
func.func @returned_itself(%x: tensor<4xf32> {ad.donated = 1}, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %z : tensor<4xf32>, tensor<4xf32>
}

// A constant is read-only data of the program.
// CHECK-LABEL: func.func @returned_constant
// REMARK: [Missed] not-donated {{.*}}the result is an argument or a constant
func.func @returned_constant(%x: tensor<4xf32> {ad.donated = 0}) -> tensor<4xf32> {
  %c = ad.constant dense<1.0> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// One value is both results, in the memory of one of the arguments.
// CHECK-LABEL: func.func @returned_twice
// REMARK: [Passed] donated {{.*}}argument=0{{.*}}result=0
// REMARK: [Missed] not-donated {{.*}}argument=1, reason="the value is another result too", result=1
func.func @returned_twice(%x: tensor<4xf32> {ad.donated = 0}, %z: tensor<4xf32> {ad.donated = 1}) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = ad.fusion elementwise (%v = %x, %w = %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %0 = ad.add %v, %w : tensor<4xf32>
    ad.yield %0 : tensor<4xf32>
  }
  return %y, %y : tensor<4xf32>, tensor<4xf32>
}
