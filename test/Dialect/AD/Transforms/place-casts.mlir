// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// RUN: ad-opt %s --ad-place-casts --split-input-file | FileCheck %s

// A loop carries the narrow copy of a value that a contraction reads; it is cast again where the next value is made.
// CHECK-LABEL: @carry
// CHECK-SAME: %[[INIT:[a-z0-9]+]]: tensor<8x8xf32>, %[[X:[a-z0-9]+]]: tensor<8x8xbf16>
func.func @carry(%init: tensor<8x8xf32>, %x: tensor<8x8xbf16>, %n: index) -> tensor<8x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: %[[FIRST:.+]] = ad.cast %[[INIT]] : tensor<8x8xf32> -> tensor<8x8xbf16>
  // CHECK: scf.for {{.*}} iter_args(%[[W:.+]] = %[[INIT]], %[[NARROW:.+]] = %[[FIRST]]) -> (tensor<8x8xf32>, tensor<8x8xbf16>)
  %r = scf.for %i = %zero to %n step %one iter_args(%w = %init) -> (tensor<8x8xf32>) {
    // CHECK-NEXT: %[[Y:.+]] = ad.dot %[[X]], %[[NARROW]]
    // CHECK-NEXT: %[[NEXT:.+]] = ad.sub %[[W]], %[[Y]]
    // CHECK-NEXT: %[[COPY:.+]] = ad.cast %[[NEXT]] : tensor<8x8xf32> -> tensor<8x8xbf16>
    // CHECK-NEXT: scf.yield %[[NEXT]], %[[COPY]]
    %narrow = ad.cast %w : tensor<8x8xf32> -> tensor<8x8xbf16>
    %y = ad.dot %x, %narrow : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
    %next = ad.sub %w, %y : tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// -----

// Slices of a stacked parameter are those of its copy; the same for a value from outside, which is cast before the loop.
// CHECK-LABEL: @slices
// CHECK-SAME: %[[INIT:[a-z0-9]+]]: tensor<2x8x8xf32>, %[[X:[a-z0-9]+]]: tensor<8x8xf32>
func.func @slices(%init: tensor<2x8x8xf32>, %x: tensor<8x8xf32>, %n: index) -> tensor<2x8x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK-DAG: %[[XS:.+]] = ad.cast %[[X]] : tensor<8x8xf32> -> tensor<8x8xf16>
  // CHECK-DAG: %[[FIRST:.+]] = ad.cast %[[INIT]] : tensor<2x8x8xf32> -> tensor<2x8x8xf16>
  // CHECK: scf.for {{.*}} %[[NARROW:.+]] = %[[FIRST]])
  %r = scf.for %i = %zero to %n step %one iter_args(%w = %init) -> (tensor<2x8x8xf32>) {
    // CHECK-NOT: ad.cast
    // CHECK: ad.slice %[[NARROW]]
    // CHECK: ad.slice %[[NARROW]]
    // CHECK: ad.dot %[[XS]]
    // CHECK: ad.mul
    // CHECK-NEXT: ad.cast
    // CHECK-NEXT: scf.yield
    %a = ad.slice %w [0, 0, 0] strides [1, 1, 1] : tensor<2x8x8xf32> -> tensor<1x8x8xf32>
    %b = ad.slice %w [1, 0, 0] strides [1, 1, 1] : tensor<2x8x8xf32> -> tensor<1x8x8xf32>
    %as = ad.cast %a : tensor<1x8x8xf32> -> tensor<1x8x8xf16>
    %bs = ad.cast %b : tensor<1x8x8xf32> -> tensor<1x8x8xf16>
    %am = ad.reshape %as : tensor<1x8x8xf16> -> tensor<8x8xf16>
    %bm = ad.reshape %bs : tensor<1x8x8xf16> -> tensor<8x8xf16>
    %xs = ad.cast %x : tensor<8x8xf32> -> tensor<8x8xf16>
    %y = ad.dot %xs, %am : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf32>
    %z = ad.dot %xs, %bm : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf32>
    %s = ad.add %y, %z : tensor<8x8xf32>
    %next = ad.mul %w, %s : tensor<2x8x8xf32>, tensor<8x8xf32>
    scf.yield %next : tensor<2x8x8xf32>
  }
  return %r : tensor<2x8x8xf32>
}

// -----

// Right after the operation that computes the value: before a transposition, and into the parts of a concatenation.
// CHECK-LABEL: @views
func.func @views(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %w: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  // CHECK-DAG: %[[A:.+]] = ad.exp
  // CHECK-DAG: %[[AS:.+]] = ad.cast %[[A]] : tensor<8x4xf32> -> tensor<8x4xbf16>
  // CHECK-DAG: %[[B:.+]] = ad.abs
  // CHECK-DAG: %[[BS:.+]] = ad.cast %[[B]] : tensor<8x4xf32> -> tensor<8x4xbf16>
  // CHECK: %[[BOTH:.+]] = ad.concat axis 1 %[[AS]], %[[BS]] : tensor<8x4xbf16>, tensor<8x4xbf16>
  // CHECK: %[[T:.+]] = ad.transpose %[[BOTH]] [1, 0] : tensor<8x8xbf16>
  // CHECK: ad.dot %[[T]]
  %e = ad.exp %a : tensor<8x4xf32>
  %f = ad.abs %b : tensor<8x4xf32>
  %both = ad.concat axis 1 %e, %f : tensor<8x4xf32>, tensor<8x4xf32>
  %t = ad.transpose %both [1, 0] : tensor<8x8xf32>
  %narrow = ad.cast %t : tensor<8x8xf32> -> tensor<8x8xbf16>
  %y = ad.dot %narrow, %w : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %y : tensor<8x8xbf16>
}

// -----

// No contraction reads these: elementwise kernels cast while they load, and a slice of a computed value stays.
// CHECK-LABEL: @stays
func.func @stays(%a: tensor<8x8xf32>, %w: tensor<8x8xf16>, %n: index) -> (tensor<8x8xf32>, tensor<4x8xf16>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: scf.for {{.*}} iter_args(%[[W:.+]] = %{{.+}}) -> (tensor<8x8xf32>)
  // CHECK-NEXT: ad.cast %[[W]]
  %r = scf.for %i = %zero to %n step %one iter_args(%v = %a) -> (tensor<8x8xf32>) {
    %short = ad.cast %v : tensor<8x8xf32> -> tensor<8x8xf16>
    %e = ad.exp %short : tensor<8x8xf16>
    %next = ad.cast %e : tensor<8x8xf16> -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  // CHECK: %[[S:.+]] = ad.slice %{{.+}} [0, 0]
  // CHECK-NEXT: ad.cast %[[S]]
  %s = ad.slice %r [0, 0] strides [1, 1] : tensor<8x8xf32> -> tensor<4x8xf32>
  %c = ad.cast %s : tensor<4x8xf32> -> tensor<4x8xf16>
  %y = ad.dot %c, %w : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  return %r, %y : tensor<8x8xf32>, tensor<4x8xf16>
}

// -----

// A part of a large value from outside, and one at an offset that is a value, is cast alone: not all of the value.
// CHECK-LABEL: @parts
func.func @parts(%data: tensor<64x8xf32>, %w: tensor<8x8xbf16>, %n: index) -> tensor<4x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = ad.constant dense<0.0> : tensor<4x8xf32>
  // CHECK-NOT: ad.cast
  // CHECK: scf.for
  // CHECK: %[[S:.+]] = ad.slice
  // CHECK-NEXT: ad.cast %[[S]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %[[D:.+]] = ad.dynamic_slice
  // CHECK-NEXT: ad.cast %[[D]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  %r = scf.for %i = %zero to %n step %one iter_args(%sum = %start) -> (tensor<4x8xf32>) {
    %s = ad.slice %data [8, 0] strides [1, 1] : tensor<64x8xf32> -> tensor<4x8xf32>
    %ss = ad.cast %s : tensor<4x8xf32> -> tensor<4x8xbf16>
    %d = ad.dynamic_slice %data [%i, %zero] : tensor<64x8xf32> -> tensor<4x8xf32>
    %ds = ad.cast %d : tensor<4x8xf32> -> tensor<4x8xbf16>
    %y = ad.dot %ss, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xf32>
    %z = ad.dot %ds, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xf32>
    %a = ad.add %y, %z : tensor<4x8xf32>
    %next = ad.add %sum, %a : tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// -----

// Concatenations of concatenations, and dynamic sizes; a cast for several kernels follows the contraction.
// CHECK-LABEL: @nested
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?x4xf32>, %[[B:[a-z0-9]+]]: tensor<?x4xf32>
func.func @nested(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>, %w: tensor<12x8xf16>) -> (tensor<8x?xf32>, tensor<8x?xf32>) {
  // CHECK-DAG: ad.cast %[[A]] : tensor<?x4xf32> -> tensor<?x4xf16>
  // CHECK-DAG: ad.cast %[[B]] : tensor<?x4xf32> -> tensor<?x4xf16>
  // CHECK: ad.concat {{.*}} tensor<?x4xf16>, tensor<?x4xf16>
  // CHECK: ad.concat {{.*}} tensor<?x8xf16>, tensor<?x4xf16>
  // CHECK: %[[Y:.+]] = ad.dot
  // CHECK-NEXT: %[[WIDE:.+]] = ad.cast %[[Y]] : tensor<?x8xf16> -> tensor<?x8xf32>
  // CHECK-NEXT: ad.transpose %[[WIDE]] [1, 0] : tensor<?x8xf32>
  %ab = ad.concat axis 1 %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
  %aba = ad.concat axis 1 %ab, %a : tensor<?x8xf32>, tensor<?x4xf32>
  %narrow = ad.cast %aba : tensor<?x12xf32> -> tensor<?x12xf16>
  %y = ad.dot %narrow, %w : (tensor<?x12xf16>, tensor<12x8xf16>) -> tensor<?x8xf16>
  %t = ad.transpose %y [1, 0] : tensor<?x8xf16>
  %wide = ad.cast %t : tensor<8x?xf16> -> tensor<8x?xf32>
  %e = ad.exp %wide : tensor<8x?xf32>
  return %wide, %e : tensor<8x?xf32>, tensor<8x?xf32>
}

// -----

// A reshape that is no free view is another name for the same memory, too.
// CHECK-LABEL: @merged_axes
// CHECK: %[[E:.+]] = ad.exp
// CHECK-NEXT: %[[C:.+]] = ad.cast %[[E]] : tensor<6x4xf32> -> tensor<6x4xbf16>
// CHECK: ad.dot
func.func @merged_axes(%x: tensor<6x4xf32>, %w: tensor<6x8xbf16>) -> (tensor<2x3x4xf32>, tensor<4x8xbf16>) {
  %e = ad.exp %x : tensor<6x4xf32>
  %r = ad.reshape %e : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %c = ad.cast %r : tensor<2x3x4xf32> -> tensor<2x3x4xbf16>
  %m = ad.reshape %c : tensor<2x3x4xbf16> -> tensor<6x4xbf16>
  %y = ad.dot %m, %w contract [0] x [0] : (tensor<6x4xbf16>, tensor<6x8xbf16>) -> tensor<4x8xbf16>
  return %r, %y : tensor<2x3x4xf32>, tensor<4x8xbf16>
}

// -----

// A cast to a wider type also moves before a concatenation that nothing else reads, but not before a slice.
// CHECK-LABEL: @wider
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf16>, %[[W:[a-z0-9]+]]: tensor<2x6x8xf16>
// CHECK: ad.cast %[[A]] : tensor<2x3xf16> -> tensor<2x3xf32>
// CHECK: ad.concat {{.*}} tensor<2x3xf32>, tensor<2x3xf32>
// CHECK: ad.cast %{{.+}} : tensor<1x6x8xf16> -> tensor<1x6x8xf32>
func.func @wider(%a: tensor<2x3xf16>, %w: tensor<2x6x8xf16>) -> tensor<2x8xf32> {
  %b = ad.concat axis 1 %a, %a : tensor<2x3xf16>, tensor<2x3xf16>
  %c = ad.cast %b : tensor<2x6xf16> -> tensor<2x6xf32>
  %s = ad.slice %w [1, 0, 0] strides [1, 1, 1] : tensor<2x6x8xf16> -> tensor<1x6x8xf16>
  %r = ad.reshape %s : tensor<1x6x8xf16> -> tensor<6x8xf16>
  %v = ad.cast %r : tensor<6x8xf16> -> tensor<6x8xf32>
  %y = ad.dot %c, %v : (tensor<2x6xf32>, tensor<6x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// After a loop that carries the cast value, the result of the loop is that value. A cast to another type stays.
// CHECK-LABEL: @after_loop
func.func @after_loop(%w: tensor<8x8xf32>, %x: tensor<8x8xbf16>, %z: tensor<8x8xf16>, %n: index)
    -> (tensor<8x8xf32>, tensor<8x8xf16>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: %[[R:.+]]:2 = scf.for
  %r = scf.for %i = %zero to %n step %one iter_args(%p = %w) -> (tensor<8x8xf32>) {
    %c = ad.cast %p : tensor<8x8xf32> -> tensor<8x8xbf16>
    %y = ad.dot %x, %c : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
    %next = ad.sub %p, %y : tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  // CHECK: ad.dot %{{.+}}, %[[R]]#1 :
  // CHECK: %[[H:.+]] = ad.cast %[[R]]#0 : tensor<8x8xf32> -> tensor<8x8xf16>
  // CHECK: ad.dot %{{.+}}, %[[H]] :
  %d = ad.cast %r : tensor<8x8xf32> -> tensor<8x8xbf16>
  %u = ad.dot %x, %d : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
  %h = ad.cast %r : tensor<8x8xf32> -> tensor<8x8xf16>
  %v = ad.dot %z, %h : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  return %u, %v : tensor<8x8xf32>, tensor<8x8xf16>
}

// Between reshapes, too, a cast moves to what computes the value.
// CHECK-LABEL: func.func @between_reshapes
func.func @between_reshapes(%x: tensor<6x4xf32>) -> (tensor<3x8xbf16>, tensor<24xbf16>) {
  // CHECK: %[[Y:.+]] = ad.exp
  // CHECK-NEXT: %[[N:.+]] = ad.cast %[[Y]] : tensor<6x4xf32> -> tensor<6x4xbf16>
  // CHECK-NOT: ad.cast
  %y = ad.exp %x : tensor<6x4xf32>
  %a = ad.reshape %y : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %b = ad.cast %a : tensor<2x3x4xf32> -> tensor<2x3x4xbf16>
  %c = ad.reshape %b : tensor<2x3x4xbf16> -> tensor<3x8xbf16>
  %d = ad.reshape %b : tensor<2x3x4xbf16> -> tensor<24xbf16>
  // CHECK: return
  return %c, %d : tensor<3x8xbf16>, tensor<24xbf16>
}
