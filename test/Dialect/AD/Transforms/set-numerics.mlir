// RUN: ad-opt %s --ad-set-numerics --split-input-file | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-verify-numerics --split-input-file | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-set-numerics --split-input-file | FileCheck %s

// A module without a mode is strict.
// CHECK: module attributes {ad.numerics = #ad.numerics<strict>}
// CHECK-LABEL: @permissions_of_the_mode
func.func @permissions_of_the_mode(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ad.exp %{{.+}} {allow = #ad.allow<reorder|mma>} : tensor<4xf32>
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @refinement_of_an_operation_stays
func.func @refinement_of_an_operation_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ad.exp %{{.+}} {allow = #ad.allow<algebra>}
  %y = ad.exp %x {allow = #ad.allow<algebra>} : tensor<4xf32>
  // CHECK: ad.log %{{.+}} {allow = #ad.allow<none>}
  %z = ad.log %y {allow = #ad.allow<none>} : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: @refinement_of_a_function_wins
func.func @refinement_of_a_function_wins(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ad.numerics = #ad.numerics<reproducible>} {
  // CHECK: ad.exp %{{.+}} {allow = #ad.allow<none>}
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @order_last_axis
func.func @order_last_axis(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // CHECK: ad.reduce_sum {{.*}} order = #ad.order<lanes = 64, chunk = 4096>
  %y = ad.reduce_sum %x axes [1] : tensor<4x3xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @order_other_axis
func.func @order_other_axis(%x: tensor<4x3xf32>) -> tensor<3xf32> {
  // CHECK: ad.reduce_sum {{.*}} order = #ad.order<block = 512>
  %y = ad.reduce_sum %x axes [0] : tensor<4x3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: @order_contraction
func.func @order_contraction(%a: tensor<4x3xf32>, %b: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // CHECK: ad.dot {{.*}} order = #ad.order<block = 512>
  %y = ad.dot %a, %b : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// CHECK-LABEL: @order_inner_product
func.func @order_inner_product(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<f32> {
  // CHECK: ad.dot {{.*}} order = #ad.order<lanes = 64, chunk = 4096>
  %y = ad.dot %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @order_written_stays
func.func @order_written_stays(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // CHECK: ad.reduce_sum {{.*}} order = #ad.order<block = 7>
  %y = ad.reduce_sum %x axes [1] {order = #ad.order<block = 7>} : tensor<4x3xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @inside_a_fusion
func.func @inside_a_fusion(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // CHECK: ad.reduce_sum {{.*}}allow = #ad.allow<reorder|mma>, order = #ad.order<lanes = 64, chunk = 4096>
  %y = ad.fusion reduce (%a = %x) : (tensor<4x3xf32>) -> tensor<4xf32> {
    %s = ad.reduce_sum %a axes [1] : tensor<4x3xf32> -> tensor<4xf32>
    ad.yield %s : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// CHECK: module attributes {ad.numerics = #ad.numerics<fast, narrow>}
module attributes {ad.numerics = #ad.numerics<fast, narrow>} {
// CHECK-LABEL: @extra_permissions
func.func @extra_permissions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: ad.exp %{{.+}} {allow = #ad.allow<reorder|algebra|contract|widen|mma|narrow|approx>}
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
}
