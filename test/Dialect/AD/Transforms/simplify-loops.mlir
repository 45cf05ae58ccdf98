// Pipelines run the pass twice, too.
// RUN: ad-opt %s --ad-simplify --ad-simplify | FileCheck %s

// CHECK-LABEL: @no_iteration
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @no_iteration(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %lower = arith.constant 2147483647 : i32
  %upper = arith.constant -2147483648 : i32
  %step = arith.constant 1 : i32
  %y = scf.for %i = %lower to %upper step %step iter_args(%a = %x) -> tensor<4xf32> : i32 {
    %b = ad.exp %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// The same bounds without a sign.
// CHECK-LABEL: @one_unsigned_iteration
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @one_unsigned_iteration(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-DAG: %[[INDEX:.+]] = ad.constant dense<2147483647> : tensor<4xi32>
  // CHECK-DAG: %[[Y:.+]] = ad.exp %[[X]]
  // CHECK: return %[[Y]], %[[INDEX]]
  %lower = arith.constant 2147483647 : i32
  %upper = arith.constant -2147483648 : i32
  %step = arith.constant 1 : i32
  %zero = ad.constant dense<0> : tensor<4xi32>
  %y, %n = scf.for unsigned %i = %lower to %upper step %step iter_args(%a = %x, %k = %zero) -> (tensor<4xf32>, tensor<4xi32>) : i32 {
    %b = ad.exp %a : tensor<4xf32>
    %f = ad.full %i : i32 -> tensor<4xi32>
    scf.yield %b, %f : tensor<4xf32>, tensor<4xi32>
  }
  return %y, %n : tensor<4xf32>, tensor<4xi32>
}

// The distance is no i32.
// CHECK-LABEL: @four_iterations
func.func @four_iterations(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: scf.for
  %lower = arith.constant -2000000000 : i32
  %upper = arith.constant 2000000000 : i32
  %step = arith.constant 1000000000 : i32
  %y = scf.for %i = %lower to %upper step %step iter_args(%a = %x) -> tensor<4xf32> : i32 {
    %b = ad.exp %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// It has no meaning, and is refused before it runs.
// CHECK-LABEL: @no_positive_step
func.func @no_positive_step(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: scf.for
  %lower = arith.constant 5 : index
  %upper = arith.constant 3 : index
  %step = arith.constant 0 : index
  %y = scf.for %i = %lower to %upper step %step iter_args(%a = %x) -> tensor<4xf32> {
    %b = ad.exp %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// A new loop keeps the comparison: the cast moves out of the loop.
// CHECK-LABEL: @casts_of_unsigned_loops
func.func @casts_of_unsigned_loops(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  // CHECK: scf.for unsigned
  // CHECK-SAME: -> (tensor<4xf32>)
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %wide = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %y = scf.for unsigned %i = %zero to %n step %one iter_args(%a = %wide) -> tensor<?xf32> : i32 {
    %b = ad.exp %a : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  %r = tensor.cast %y : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// Carries that nothing reads, that repeat another one or that never change are gone.
// CHECK-LABEL: @carries
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[N:.+]]: index
func.func @carries(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.+]] = scf.for %{{.+}} = %{{.+}} to %[[N]] step %{{.+}} iter_args(%{{.+}} = %[[X]]) -> (tensor<4xf32>) {
  // CHECK: return %[[R]], %[[R]], %[[X]]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:4 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %x, %c = %x, %d = %x) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %e = ad.exp %a : tensor<4xf32>
    scf.yield %e, %e, %c, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A loop refuses a carry that changes its size, so that only loops whose carries keep them are inlined.
// CHECK-LABEL: @one_iteration_of_sizes
// CHECK: %[[GROWN:.+]] = scf.for
// CHECK: ad.concat
// CHECK: %[[KEPT:.+]] = ad.exp
// CHECK: return %[[GROWN]], %[[KEPT]]
func.func @one_iteration_of_sizes(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %grown = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %b = ad.concat axis 0 %a, %a : tensor<?xf32>, tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  %kept = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %b = ad.exp %a : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %grown, %kept : tensor<?xf32>, tensor<?xf32>
}

// What a loop carries for itself alone goes: a counter that nothing reads. One that something reads stays, and one of
// dynamic size, which the loop checks.
// CHECK-LABEL: func.func @unused_carries
// CHECK: scf.for {{.*}} iter_args({{[^,]*}}, {{[^,]*}}, {{[^,]*}}) -> (tensor<4xf32>, tensor<i32>, tensor<?xf32>)
// CHECK-COUNT-4: ad.add
// CHECK-NOT: ad.add
func.func @unused_carries(%x: tensor<4xf32>, %y: tensor<?xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = ad.constant dense<0> : tensor<i32>
  %one = ad.constant dense<1> : tensor<i32>
  %0:5 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %unused = %zero, %read = %zero, %pair = %zero, %open = %y) -> (tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xf32>) {
    %next = ad.add %unused, %one : tensor<i32>
    %counted = ad.add %read, %one : tensor<i32>
    %twice = ad.mul %pair, %one : tensor<i32>
    %again = ad.sub %twice, %one : tensor<i32>
    %f = ad.cast %counted : tensor<i32> -> tensor<f32>
    %b = ad.add %a, %f : tensor<4xf32>, tensor<f32>
    %c = ad.add %b, %b : tensor<4xf32>
    %grown = ad.add %open, %open : tensor<?xf32>
    scf.yield %c, %next, %counted, %again, %grown : tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xf32>
  }
  return %0#0 : tensor<4xf32>
}
