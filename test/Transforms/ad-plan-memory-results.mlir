// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-outline-kernels --ad-plan-memory | FileCheck %s
//
// What a function returns is written into the memory that its caller receives, also from both sides of a branch that ends
// the function.

// A result of dynamic shape has a buffer of its own, whose bytes count per element of its sizes.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[R:.+]] = ad.buffer <result, bytes = 8>
// CHECK: ad.feed "a"(%{{.+}}) into(%[[R]])
// CHECK-NOT: ad.copy
func.func @dynamic(%n: tensor<?xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %a = ad.feed "a"(%d) : tensor<?x2xf32>
  return %a : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @sides
// CHECK-DAG: %[[R0:.+]] = ad.buffer <result, bytes = 4>
// CHECK-DAG: %[[R1:.+]] = ad.buffer <result, number = 1, bytes = 32>
// CHECK: ad.feed "a"(%{{.+}}) into(%[[R0]])
// CHECK: ad.feed "b" into(%[[R1]])
// CHECK: } else {
// CHECK: ad.feed "c"(%{{.+}}) into(%[[R0]])
// CHECK: ad.feed "d" into(%[[R1]])
// CHECK-NOT: ad.copy
func.func @sides(%n: tensor<?xf32>, %m: tensor<?xf32>) -> (tensor<?xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %e = tensor.dim %m, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %d, %e : index
  %r:2 = scf.if %same -> (tensor<?xf32>, tensor<8xf32>) {
    %a = ad.feed "a"(%d) : tensor<?xf32>
    %b = ad.feed "b" : tensor<8xf32>
    scf.yield %a, %b : tensor<?xf32>, tensor<8xf32>
  } else {
    %a = ad.feed "c"(%e) : tensor<?xf32>
    %b = ad.feed "d" : tensor<8xf32>
    scf.yield %a, %b : tensor<?xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<8xf32>
}

// Each side writes the donated argument, the first one once it has read it; the second one reads it later, but not in the
// same run.
// CHECK-LABEL: func.func @donated
// CHECK: %[[W:.+]] = ad.buffer <argument, bytes = 32>
// CHECK: ad.receive "old"
// CHECK: ad.feed "a" into(%[[W]])
// CHECK: } else {
// CHECK: ad.receive "old"
// CHECK: ad.feed "b" into(%[[W]])
// CHECK-NOT: ad.copy
func.func @donated(%w: tensor<8xf32> {ad.donated = 0}, %n: tensor<?xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %d, %c4 : index
  %r = scf.if %same -> tensor<8xf32> {
    ad.receive "old"(%w) : tensor<8xf32>
    %a = ad.feed "a" : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  } else {
    ad.receive "old"(%w) : tensor<8xf32>
    %b = ad.feed "b" : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A side that reads the argument after the new value is made copies it there at the end.
// CHECK-LABEL: func.func @read_later
// CHECK: %[[W:.+]] = ad.buffer <argument, bytes = 32>
// CHECK: ad.feed "a" into(%[[W]])
// CHECK: } else {
// CHECK: %[[B:.+]] = ad.feed "b" into(%{{arena.*}})
// CHECK: ad.receive "old"
// CHECK: ad.copy %[[B]] into(%[[W]])
func.func @read_later(%w: tensor<8xf32> {ad.donated = 0}, %n: tensor<?xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %d, %c4 : index
  %r = scf.if %same -> tensor<8xf32> {
    %a = ad.feed "a" : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  } else {
    %b = ad.feed "b" : tensor<8xf32>
    ad.receive "old"(%w) : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A side that yields an argument: no memory is donated, since the copy of one result would overwrite the other.
// CHECK-LABEL: func.func @yields_argument
// CHECK-NOT: into(%argument
// CHECK: return
func.func @yields_argument(%w: tensor<8xf32> {ad.donated = 0}, %n: tensor<?xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %d, %c4 : index
  %r:2 = scf.if %same -> (tensor<8xf32>, tensor<8xf32>) {
    %a = ad.feed "a" : tensor<8xf32>
    scf.yield %a, %w : tensor<8xf32>, tensor<8xf32>
  } else {
    %b = ad.feed "b" : tensor<8xf32>
    scf.yield %b, %b : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// A loop writes a value in each iteration: its result is copied.
// CHECK-LABEL: func.func @loop
// CHECK-NOT: <result
// CHECK: return
func.func @loop(%n: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %n) -> tensor<?xf32> {
    %a = ad.feed "a"(%d) : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// The same with another name of the argument.
// CHECK-LABEL: func.func @yields_alias
// CHECK-NOT: into(%argument
// CHECK: return
func.func @yields_alias(%w: tensor<8xf32> {ad.donated = 0}, %n: tensor<?xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %d, %c4 : index
  %r:2 = scf.if %same -> (tensor<8xf32>, tensor<2x4xf32>) {
    %a = ad.feed "a" : tensor<8xf32>
    %v = ad.reshape %w : tensor<8xf32> -> tensor<2x4xf32>
    scf.yield %a, %v : tensor<8xf32>, tensor<2x4xf32>
  } else {
    %b = ad.feed "b" : tensor<8xf32>
    %v = ad.reshape %w : tensor<8xf32> -> tensor<2x4xf32>
    scf.yield %b, %v : tensor<8xf32>, tensor<2x4xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<2x4xf32>
}

// The function returns the old value too.
// CHECK-LABEL: func.func @returned_too
// CHECK-NOT: into(%argument
// CHECK: return
func.func @returned_too(%w: tensor<8xf32> {ad.donated = 0}, %n: tensor<?xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %d, %c4 : index
  %r = scf.if %same -> tensor<8xf32> {
    %a = ad.feed "a" : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  } else {
    %b = ad.feed "b" : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r, %w : tensor<8xf32>, tensor<8xf32>
}

// Another name of the argument, from before the branch, is read late in a side: only the other side writes in place.
// CHECK-LABEL: func.func @alias_before
// CHECK: %[[W:.+]] = ad.buffer <argument, bytes = 32>
// CHECK: %[[A:.+]] = ad.feed "a" into(%{{arena.*}})
// CHECK: ad.receive "old"
// CHECK: ad.copy %[[A]] into(%[[W]])
// CHECK: } else {
// CHECK: ad.feed "b" into(%[[W]])
func.func @alias_before(%w: tensor<8xf32> {ad.donated = 0}, %n: tensor<?xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %d, %c4 : index
  %v = ad.reshape %w : tensor<8xf32> -> tensor<2x4xf32>
  %r = scf.if %same -> tensor<8xf32> {
    %a = ad.feed "a" : tensor<8xf32>
    ad.receive "old"(%v) : tensor<2x4xf32>
    scf.yield %a : tensor<8xf32>
  } else {
    %b = ad.feed "b" : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// One result of the branch is two results of the function, to each of which an argument is donated.
// CHECK-LABEL: func.func @twice
// CHECK: ad.feed "a" into(%argument1
// CHECK: } else {
// CHECK: ad.feed "b" into(%argument1
func.func @twice(%u: tensor<8xf32> {ad.donated = 1}, %w: tensor<8xf32> {ad.donated = 0}, %n: tensor<?xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %d, %c4 : index
  %r = scf.if %same -> tensor<8xf32> {
    %a = ad.feed "a" : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  } else {
    %b = ad.feed "b" : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r, %r : tensor<8xf32>, tensor<8xf32>
}
