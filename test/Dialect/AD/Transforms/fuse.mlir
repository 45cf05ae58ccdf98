// RUN: ad-opt %s --ad-fuse | FileCheck %s

// CHECK-LABEL: @chain
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.+]] = ad.fusion elementwise (%[[A:.+]] = %[[X]])
  // CHECK-NEXT: %[[E:.+]] = ad.exp %[[A]]
  // CHECK-NEXT: %[[N:.+]] = ad.neg %[[E]]
  // CHECK-NEXT: %[[M:.+]] = ad.mul %[[N]], %[[N]]
  // CHECK-NEXT: ad.yield %[[M]]
  // CHECK: return %[[Y]]
  %e = ad.exp %x : tensor<4xf32>
  %n = ad.neg %e : tensor<4xf32>
  %m = ad.mul %n, %n : tensor<4xf32>
  return %m : tensor<4xf32>
}

// Users in one fusion, found over several steps.
// CHECK-LABEL: @diamond
func.func @diamond(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ad.fusion
  // CHECK: ad.exp
  // CHECK: ad.neg
  // CHECK: ad.add
  // CHECK: ad.yield
  // CHECK-NOT: ad.fusion
  %e = ad.exp %x : tensor<4xf32>
  %n = ad.neg %e : tensor<4xf32>
  %y = ad.add %e, %n : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @used_outside_too
func.func @used_outside_too(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[Y:.+]]:2 = ad.fusion elementwise
  // CHECK-NEXT: %[[E:.+]] = ad.exp
  // CHECK-NEXT: %[[N:.+]] = ad.neg %[[E]]
  // CHECK-NEXT: ad.yield %[[E]], %[[N]]
  // CHECK: return %[[Y]]#0, %[[Y]]#1
  %e = ad.exp %x : tensor<4xf32>
  %n = ad.neg %e : tensor<4xf32>
  return %e, %n : tensor<4xf32>, tensor<4xf32>
}

// A contraction reads its operands once per tile: what makes them stays outside. A small transposition is read where
// it is needed.
// CHECK-LABEL: @kinds
func.func @kinds(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[E:.+]] = ad.fusion elementwise
  // CHECK: %[[D:.+]] = ad.fusion dot (%{{.+}} = %[[E]], %{{.+}} = %{{.+}})
  // CHECK: %[[S:.+]] = ad.fusion reduce (%{{.+}} = %[[D]])
  // CHECK-NEXT: ad.transpose
  // CHECK-NEXT: ad.reduce_sum
  // CHECK: ad.fusion movement (%{{.+}} = %[[S]])
  %e = ad.exp %a : tensor<4x8xf32>
  %d = ad.dot %e, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %t = ad.transpose %d [1, 0] : tensor<4x2xf32>
  %s = ad.reduce_sum %t axes [0] : tensor<2x4xf32> -> tensor<4xf32>
  %y = ad.broadcast %s : tensor<4xf32> -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @permissions_intersect
func.func @permissions_intersect(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ad.fusion elementwise {{.*}} {allow = #ad.allow<mma>}
  %e = ad.exp %x {allow = #ad.allow<algebra|mma>} : tensor<4xf32>
  %n = ad.neg %e {allow = #ad.allow<mma|approx>} : tensor<4xf32>
  return %n : tensor<4xf32>
}

// CHECK-LABEL: @order_of_the_sum
func.func @order_of_the_sum(%x: tensor<4xf32>) -> tensor<f32> {
  // CHECK: ad.fusion reduce {{.*}} order = #ad.order<block = 7>
  %y = ad.reduce_sum %x axes [0] {allow = #ad.allow<none>, order = #ad.order<block = 7>} : tensor<4xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @constants
func.func @constants(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[LARGE:.+]] = ad.constant dense<[1.000000e+00, 2.000000e+00]>
  // CHECK-NOT: ad.constant
  // CHECK: ad.fusion elementwise (%{{.+}} = %{{.+}}, %{{.+}} = %[[LARGE]])
  // CHECK: ad.constant dense<3.000000e+00>
  %splat = ad.constant dense<3.0> : tensor<2xf32>
  %large = ad.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = ad.add %x, %splat : tensor<2xf32>
  %z = ad.mul %y, %large : tensor<2xf32>
  return %z : tensor<2xf32>
}

// CHECK-LABEL: @known_broadcasts_are_copied
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf32>, %[[B:.+]]: tensor<3xf32>
func.func @known_broadcasts_are_copied(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  // CHECK: ad.fusion elementwise (%{{.+}} = %[[X]], %{{.+}} = %[[B]]) : (tensor<4x3xf32>, tensor<3xf32>)
  // CHECK-NEXT: %[[W:.+]] = ad.broadcast
  // CHECK-NEXT: ad.add %{{.+}}, %[[W]]
  // CHECK-NEXT: ad.mul %{{.+}}, %[[W]]
  // CHECK-NOT: ad.fusion
  %w = ad.broadcast %b : tensor<3xf32> -> tensor<4x3xf32>
  %y = ad.add %x, %w : tensor<4x3xf32>
  %z = ad.mul %x, %w : tensor<4x3xf32>
  return %y, %z : tensor<4x3xf32>, tensor<4x3xf32>
}

// A broadcast that checks at run time is a kernel; sizes and scalars are operands.
// CHECK-LABEL: @sizes_are_operands
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>, %[[Y:.+]]: tensor<?xf32>, %[[N:.+]]: index, %[[C:.+]]: f32
func.func @sizes_are_operands(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index, %c: f32) -> tensor<?xf32> {
  // CHECK: %[[W:.+]] = ad.fusion movement (%{{.+}} = %[[Y]], %{{.+}} = %[[N]])
  // CHECK: ad.fusion elementwise (%[[WIN:.+]] = %[[W]], %[[CIN:.+]] = %[[C]], %[[NIN:.+]] = %[[N]])
  // CHECK-NEXT: %[[F:.+]] = ad.full %[[CIN]](%[[NIN]])
  // CHECK-NEXT: ad.mul %[[WIN]], %[[F]]
  %w = ad.broadcast %y(%n) : tensor<?xf32> -> tensor<?xf32>
  %f = ad.full %c(%n) : f32 -> tensor<?xf32>
  %z = ad.mul %w, %f : tensor<?xf32>
  return %z : tensor<?xf32>
}

// CHECK-LABEL: @stays_at_top_level
func.func @stays_at_top_level(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[FEED:.+]] = ad.feed "a"
  // CHECK: %[[E:.+]] = ad.fusion
  // CHECK: %[[B:.+]] = ad.barrier %[[E]]
  // CHECK: %[[N:.+]] = ad.fusion elementwise (%{{.+}} = %[[B]])
  // CHECK: ad.receive "r"(%[[N]])
  %f = ad.feed "a" : tensor<4xf32>
  %e = ad.exp %f : tensor<4xf32>
  %b = ad.barrier %e : tensor<4xf32>
  %n = ad.neg %b : tensor<4xf32>
  ad.receive "r"(%n) : tensor<4xf32>
  return %n : tensor<4xf32>
}

// CHECK-LABEL: @inside_a_loop
func.func @inside_a_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: scf.for {{.*}} iter_args(%[[C:.+]] = %{{.+}})
  // CHECK: %[[R:.+]] = ad.fusion elementwise (%{{.+}} = %[[C]])
  // CHECK: ad.exp
  // CHECK: ad.neg
  // CHECK: scf.yield %[[R]]
  %y = scf.for %i = %zero to %n step %one iter_args(%c = %x) -> (tensor<4xf32>) {
    %e = ad.exp %c : tensor<4xf32>
    %g = ad.neg %e : tensor<4xf32>
    scf.yield %g : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @broadcast_of_broadcast
// CHECK-SAME: %[[X:.+]]: tensor<?x4x3xf32>, %[[B:.+]]: tensor<3xf32>
func.func @broadcast_of_broadcast(%x: tensor<?x4x3xf32>, %b: tensor<3xf32>, %n: index) -> tensor<?x4x3xf32> {
  // CHECK: ad.fusion elementwise (%{{.+}} = %[[X]], %{{.+}} = %[[B]], %{{.+}} = %{{.+}})
  // CHECK-NEXT: ad.broadcast
  // CHECK-NEXT: ad.broadcast
  // CHECK-NEXT: ad.add
  %v = ad.broadcast %b : tensor<3xf32> -> tensor<4x3xf32>
  %w = ad.broadcast %v(%n) : tensor<4x3xf32> -> tensor<?x4x3xf32>
  %y = ad.add %x, %w : tensor<?x4x3xf32>
  return %y : tensor<?x4x3xf32>
}
