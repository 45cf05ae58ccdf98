// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-ad-to-linalg --ad-outline-kernels --ad-plan-memory | FileCheck %s

// Elementwise kernels write over operands that die; the last one writes into the memory of the result.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[ARENA:.+]] = ad.buffer <arena, bytes = 4096>
// CHECK-NEXT: %[[RESULT:.+]] = ad.buffer <result, bytes = 4096>
// CHECK-NEXT: %[[A:.+]] = ad.launch @[[KERNEL:.+]](%{{.+}}) into(%[[ARENA]])
// CHECK-NEXT: %[[B:.+]] = ad.launch @[[KERNEL]](%[[A]]) into(%[[ARENA]])
// CHECK-NEXT: ad.launch @[[KERNEL]](%[[B]]) into(%[[RESULT]])
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

// A carry is updated in place when its old value is dead; its buffer is that of the result.
// CHECK-LABEL: func.func @in_place
// CHECK-NEXT: %[[RESULT:.+]] = ad.buffer <result, bytes = 4096>
// CHECK-NOT: ad.buffer
// CHECK: %[[INIT:.+]] = ad.copy %{{.+}} into(%[[RESULT]])
// CHECK-NEXT: scf.for {{.*}}iter_args(%{{.+}} = %[[INIT]])
// CHECK-NEXT: %[[NEXT:.+]] = ad.launch {{.*}}into(%[[RESULT]])
// CHECK-NEXT: scf.yield %[[NEXT]]
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
// CHECK-NEXT: %[[RESULT:.+]] = ad.buffer <result, bytes = 4096>
// CHECK-NEXT: %[[ARENA:.+]] = ad.buffer <arena, bytes = 4096>
// CHECK: %[[NEXT:.+]] = ad.launch {{.*}}into(%[[ARENA]])
// CHECK-NEXT: %[[MOVED:.+]] = ad.copy %[[NEXT]] into(%[[RESULT]])
// CHECK-NEXT: scf.yield %[[MOVED]]
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
// CHECK-NEXT: %[[RESULT:.+]] = ad.buffer <result, bytes = 4096>
// CHECK-NOT: ad.buffer
// CHECK: %[[INIT:.+]] = ad.copy %{{.+}} into(%[[RESULT]])
// CHECK-NEXT: scf.for {{.*}}iter_args(%{{.+}} = %[[INIT]])
// CHECK-NEXT: %[[NEXT:.+]] = ad.launch {{.*}}into(%[[RESULT]])
// CHECK-NEXT: scf.yield %[[NEXT]]
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

// The contraction reads the whole parameter: elements that are written early would be read late.
// CHECK-LABEL: func.func @contracted_itself
// CHECK-NEXT: %[[RESULT:.+]] = ad.buffer <result, bytes = 4096>
// CHECK-NEXT: %[[ARENA:.+]] = ad.buffer <arena, bytes = 4096>
// CHECK: %[[NEXT:.+]] = ad.launch {{.*}}into(%[[ARENA]])
// CHECK-NEXT: %[[MOVED:.+]] = ad.copy %[[NEXT]] into(%[[RESULT]])
// CHECK-NEXT: scf.yield %[[MOVED]]
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

// All yields happen at once: swapped carries need a temporary copy.
// CHECK-LABEL: func.func @swapped
// CHECK-DAG: %[[FIRST:.+]] = ad.buffer <result, bytes = 16>
// CHECK-DAG: %[[SECOND:.+]] = ad.buffer <result, number = 1, bytes = 16>
// CHECK-DAG: %[[TEMPORARY0:.+]] = ad.buffer <arena, bytes = 16>
// CHECK-DAG: %[[TEMPORARY1:.+]] = ad.buffer <arena, offset = 64, bytes = 16>
// CHECK: scf.for {{.*}}iter_args(%[[U:.+]] = %{{.+}}, %[[V:.+]] = %{{.+}})
// CHECK-NEXT: %[[A:.+]] = ad.copy %[[V]] into(%[[TEMPORARY0]])
// CHECK-NEXT: %[[B:.+]] = ad.copy %[[U]] into(%[[TEMPORARY1]])
// CHECK-NEXT: %[[P:.+]] = ad.copy %[[A]] into(%[[FIRST]])
// CHECK-NEXT: %[[Q:.+]] = ad.copy %[[B]] into(%[[SECOND]])
// CHECK-NEXT: scf.yield %[[P]], %[[Q]]
func.func @swapped(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %v, %u : tensor<4xf32>, tensor<4xf32>
  }
  return %p, %q : tensor<4xf32>, tensor<4xf32>
}

// The condition and the body of a loop have buffers of their own; a selection and both sides of a branch are copied into
// one buffer.
// CHECK-LABEL: func.func @structured
// CHECK: %[[CHOSEN:.+]] = arith.select
// CHECK-NEXT: %[[COPY:.+]] = ad.copy %[[CHOSEN]] into(%[[SELECTED:.+]])
// CHECK: %[[INIT:.+]] = ad.copy %[[COPY]] into(%[[BEFORE:.+]]) :
// CHECK-NEXT: scf.while (%[[ARGUMENT:.+]] = %[[INIT]])
// CHECK: %[[PASSED:.+]] = ad.copy %[[ARGUMENT]] into(%[[RESULT:.+]]) :
// CHECK-NEXT: scf.condition({{.+}}) %[[PASSED]]
// CHECK: ^bb0(%[[BODY:.+]]: tensor<4xf32>):
// CHECK: %[[BRANCH:.+]] = scf.if
// CHECK: %[[NEXT:.+]] = ad.launch {{.+}} into(%[[JOINED:.+]]) :
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: %[[SAME:.+]] = ad.copy %[[BODY]] into(%[[JOINED]])
// CHECK-NEXT: scf.yield %[[SAME]]
// CHECK: %[[AGAIN:.+]] = ad.copy %[[BRANCH]] into(%[[BEFORE]])
// CHECK-NEXT: scf.yield %[[AGAIN]]
func.func @structured(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1, %go: i1) -> tensor<4xf32> {
  %s = arith.select %c, %x, %y : tensor<4xf32>
  %r = scf.while (%v = %s) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%go) %v : tensor<4xf32>
  } do {
  ^bb0(%w: tensor<4xf32>):
    %n = scf.if %c -> tensor<4xf32> {
      %e = ad.fusion elementwise (%a = %w) : (tensor<4xf32>) -> tensor<4xf32> {
        %0 = ad.exp %a : tensor<4xf32>
        ad.yield %0 : tensor<4xf32>
      }
      scf.yield %e : tensor<4xf32>
    } else {
      scf.yield %w : tensor<4xf32>
    }
    scf.yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
