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

// The product is rounded once, after the bias was added, as ad.gemm does.
// CHECK-LABEL: @bias_in_accumulator
func.func @bias_in_accumulator(%x: tensor<?x8xf16>, %w: tensor<8x4xf16>, %b: tensor<4xf16>) -> tensor<?x4xf16> {
  // CHECK: %[[PRODUCT:.+]] = ad.dot {{.*}} -> tensor<?x4xf32>
  // CHECK: %[[BIAS:.+]] = ad.cast %{{.+}} {{.*}} : tensor<4xf16> -> tensor<4xf32>
  // CHECK: %[[SUM:.+]] = ad.add %[[PRODUCT]], %[[BIAS]]
  // CHECK: ad.cast %[[SUM]] {{.*}} : tensor<?x4xf32> -> tensor<?x4xf16>
  %y = ad.dot %x, %w {allow = #ad.allow<widen>} : (tensor<?x8xf16>, tensor<8x4xf16>) -> tensor<?x4xf16>
  %z = ad.add %y, %b {allow = #ad.allow<widen>} : tensor<?x4xf16>, tensor<4xf16>
  return %z : tensor<?x4xf16>
}

// CHECK-LABEL: @bias_after_a_broadcast
func.func @bias_after_a_broadcast(%x: tensor<?x8xf16>, %w: tensor<8x?xf16>, %b: tensor<?x?xf16>, %m: index, %n: index)
    -> tensor<?x?xf16> {
  // CHECK: %[[PRODUCT:.+]] = ad.dot {{.*}} -> tensor<?x?xf32>
  // CHECK: %[[WIDE:.+]] = ad.broadcast %[[PRODUCT]]
  // CHECK: ad.add %[[WIDE]], %{{.+}} : tensor<?x?xf32>
  %y = ad.dot %x, %w {allow = #ad.allow<widen>} : (tensor<?x8xf16>, tensor<8x?xf16>) -> tensor<?x?xf16>
  %u = ad.broadcast %y(%m, %n) : tensor<?x?xf16> -> tensor<?x?xf16>
  %z = ad.add %u, %b {allow = #ad.allow<widen>} : tensor<?x?xf16>
  return %z : tensor<?x?xf16>
}

// CHECK-LABEL: @difference_of_products
func.func @difference_of_products(%x: tensor<2x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<2x4xbf16> {
  // CHECK-COUNT-2: ad.dot {{.*}} -> tensor<2x4xf32>
  // CHECK: ad.sub {{.*}} : tensor<2x4xf32>
  %y = ad.dot %x, %w {allow = #ad.allow<widen>} : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xbf16>
  %n = ad.neg %x : tensor<2x8xbf16>
  %v = ad.dot %n, %w {allow = #ad.allow<widen>} : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xbf16>
  %z = ad.sub %y, %v {allow = #ad.allow<widen>} : tensor<2x4xbf16>
  return %z : tensor<2x4xbf16>
}

// All products have a say, the one on the right too.
// CHECK-LABEL: @one_product_keeps_its_rounding
func.func @one_product_keeps_its_rounding(%x: tensor<2x8xf16>, %w: tensor<8x4xf16>) -> tensor<2x4xf16> {
  // CHECK-COUNT-2: ad.dot {{.*}} -> tensor<2x4xf16>
  %y = ad.dot %x, %w {allow = #ad.allow<widen>} : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf16>
  %n = ad.neg %x : tensor<2x8xf16>
  %v = ad.dot %n, %w : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf16>
  %z = ad.add %y, %v {allow = #ad.allow<widen>} : tensor<2x4xf16>
  return %z : tensor<2x4xf16>
}

// CHECK-LABEL: @rounded_product_is_used
func.func @rounded_product_is_used(%x: tensor<2x8xf16>, %w: tensor<8x4xf16>, %b: tensor<4xf16>)
    -> (tensor<2x4xf16>, tensor<2x4xf16>) {
  // CHECK: ad.dot {{.*}} -> tensor<2x4xf16>
  %y = ad.dot %x, %w {allow = #ad.allow<widen>} : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf16>
  %z = ad.add %y, %b {allow = #ad.allow<widen>} : tensor<2x4xf16>, tensor<4xf16>
  return %y, %z : tensor<2x4xf16>, tensor<2x4xf16>
}

// CHECK-LABEL: @sum_of_f32_has_no_rounding_to_skip
func.func @sum_of_f32_has_no_rounding_to_skip(%x: tensor<2x8xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>)
    -> tensor<2x4xf32> {
  // CHECK-NOT: ad.cast
  %y = ad.dot %x, %w {allow = #ad.allow<widen>} : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %z = ad.add %y, %b {allow = #ad.allow<widen>} : tensor<2x4xf32>, tensor<4xf32>
  return %z : tensor<2x4xf32>
}

// Constants go to the right, but a zero of dynamic size is no constant.
// CHECK-LABEL: @zero_of_dynamic_size_on_the_left
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>
func.func @zero_of_dynamic_size_on_the_left(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[ZERO:.+]] = ad.full
  // CHECK: %[[D:.+]] = ad.neg %[[X]]
  // CHECK: return %[[ZERO]], %[[X]], %[[D]]
  %zero = ad.constant dense<0.0> : tensor<f32>
  %0 = ad.mul %zero, %x {allow = #ad.allow<algebra>} : tensor<f32>, tensor<?xf32>
  %1 = ad.add %zero, %x {allow = #ad.allow<algebra>} : tensor<f32>, tensor<?xf32>
  %2 = ad.sub %zero, %x {allow = #ad.allow<algebra>} : tensor<f32>, tensor<?xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
