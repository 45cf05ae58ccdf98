// RUN: ad-opt %s --ad-simplify | FileCheck %s

// One operation with the permission and one without: what the rewrite would change decides.

// CHECK-LABEL: @all_touched_operations_have_a_say
func.func @all_touched_operations_have_a_say(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = ad.constant dense<3.0> : tensor<4xf32>
  %b = ad.constant dense<5.0> : tensor<4xf32>
  // CHECK-COUNT-2: ad.mul
  %y = ad.mul %x, %a {allow = #ad.allow<none>} : tensor<4xf32>
  %z = ad.mul %y, %b {allow = #ad.allow<algebra>} : tensor<4xf32>
  return %z : tensor<4xf32>
}

// New operations may do what all the replaced ones might.
// CHECK-LABEL: @permissions_intersect
func.func @permissions_intersect(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = ad.constant dense<3.0> : tensor<4xf32>
  %b = ad.constant dense<5.0> : tensor<4xf32>
  // CHECK: ad.mul {{.*}} {allow = #ad.allow<algebra>}
  %y = ad.mul %x, %a {allow = #ad.allow<algebra|approx>} : tensor<4xf32>
  %z = ad.mul %y, %b {allow = #ad.allow<algebra|mma>} : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: @without_permissions
func.func @without_permissions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = ad.constant dense<0.0> : tensor<4xf32>
  // CHECK: ad.add
  %y = ad.add %x, %zero : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @cancel
func.func @cancel(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[ZERO:.+]] = ad.constant dense<0.000000e+00>
  // CHECK-DAG: %[[ONE:.+]] = ad.constant dense<1.000000e+00>
  // CHECK: %[[D:.+]] = ad.sub
  // CHECK: return %[[ZERO]], %[[ONE]], %[[D]]
  %y = ad.sub %x, %x {allow = #ad.allow<algebra>} : tensor<4xf32>
  %z = ad.div %x, %x {allow = #ad.allow<algebra>} : tensor<4xf32>
  %w = ad.sub %x, %x {allow = #ad.allow<approx>} : tensor<4xf32>
  return %y, %z, %w : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @from_zero
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @from_zero(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[ZERO:.+]] = ad.constant
  // CHECK: %[[N:.+]] = ad.neg %[[X]]
  // CHECK: return %[[N]], %[[ZERO]]
  %zero = ad.constant dense<0.0> : tensor<4xf32>
  %y = ad.sub %zero, %x {allow = #ad.allow<algebra>} : tensor<4xf32>
  %z = ad.div %zero, %x {allow = #ad.allow<algebra>} : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @inverse
func.func @inverse(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[THREE:.+]] = ad.constant dense<3.000000e+00>
  // CHECK-DAG: %[[THIRD:.+]] = ad.constant dense<0.333333343>
  // CHECK: ad.mul %{{.+}}, %[[THIRD]]
  // CHECK: ad.div %{{.+}}, %[[THREE]]
  %three = ad.constant dense<3.0> : tensor<4xf32>
  %y = ad.div %x, %three {allow = #ad.allow<algebra>} : tensor<4xf32>
  %z = ad.div %x, %three {allow = #ad.allow<none>} : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @unknown_size
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>, %[[N:.+]]: index
func.func @unknown_size(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  // Its size may be 1 where that of the result is not.
  // CHECK: %[[Y:.+]] = ad.add %[[X]]
  // CHECK: return %[[Y]], %[[X]]
  %zero = arith.constant 0.0 : f32
  %zeros = ad.full %zero(%n) : f32 -> tensor<?xf32>
  %y = ad.add %x, %zeros {allow = #ad.allow<algebra>} : tensor<?xf32>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %same = ad.full %zero(%m) : f32 -> tensor<?xf32>
  %z = ad.add %x, %same {allow = #ad.allow<algebra>} : tensor<?xf32>
  return %y, %z : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @contract
func.func @contract(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: ad.fma %{{.+}}, %{{.+}}, %{{.+}} {allow = #ad.allow<contract>}
  %p = ad.mul %a, %b {allow = #ad.allow<contract>} : tensor<4xf32>
  %y = ad.add %p, %c {allow = #ad.allow<contract>} : tensor<4xf32>
  // CHECK: ad.mul
  // CHECK: ad.add
  %q = ad.mul %b, %c {allow = #ad.allow<algebra>} : tensor<4xf32>
  %z = ad.add %q, %a {allow = #ad.allow<contract>} : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @widen
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @widen(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[N:.+]] = ad.cast %[[X]] {{.*}} -> tensor<4xbf16>
  // CHECK: %[[W:.+]] = ad.cast %[[N]] {{.*}} -> tensor<4xf32>
  // CHECK: return %[[X]], %[[W]]
  %a = ad.cast %x {allow = #ad.allow<widen>} : tensor<4xf32> -> tensor<4xbf16>
  %b = ad.cast %a {allow = #ad.allow<widen>} : tensor<4xbf16> -> tensor<4xf32>
  %c = ad.cast %x {allow = #ad.allow<none>} : tensor<4xf32> -> tensor<4xbf16>
  %d = ad.cast %c {allow = #ad.allow<widen>} : tensor<4xbf16> -> tensor<4xf32>
  return %b, %d : tensor<4xf32>, tensor<4xf32>
}
