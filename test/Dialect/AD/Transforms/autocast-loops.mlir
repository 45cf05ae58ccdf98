// RUN: ad-opt %s --ad-autocast | FileCheck %s

// Loops carry and branches yield what the program says. A value from outside is cast outside.

module attributes {ad.precision = #ad.precision<f16>} {
  // CHECK-LABEL: func.func @for_loop
  // CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xf32>)
  func.func @for_loop(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // CHECK-NEXT: %[[W16:.*]] = ad.cast %[[W]] : tensor<4x4xf32> -> tensor<4x4xf16>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    // CHECK: scf.for {{.*}} iter_args(%[[H:.*]] = %[[X]]) -> (tensor<4x4xf32>) {
    // CHECK-NEXT: %[[H16:.*]] = ad.cast %[[H]] : tensor<4x4xf32> -> tensor<4x4xf16>
    // CHECK-NEXT: %[[Y:.*]] = ad.dot %[[H16]], %[[W16]] : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
    // CHECK-NEXT: %[[Y32:.*]] = ad.cast %[[Y]] : tensor<4x4xf16> -> tensor<4x4xf32>
    // CHECK-NEXT: scf.yield %[[Y32]] : tensor<4x4xf32>
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> (tensor<4x4xf32>) {
      %y = ad.dot %h, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %y : tensor<4x4xf32>
    }
    return %r : tensor<4x4xf32>
  }

  // CHECK-LABEL: func.func @while_loop
  func.func @while_loop(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %zero = ad.constant dense<0.0> : tensor<f32>
    // CHECK: scf.while (%{{.*}} = %{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    // CHECK: %[[Y:.*]] = ad.dot {{.*}} -> tensor<4x4xf16>
    // CHECK-NEXT: %[[Y32:.*]] = ad.cast %[[Y]] : tensor<4x4xf16> -> tensor<4x4xf32>
    // CHECK: ad.reduce_max %[[Y]] axes [0, 1] : tensor<4x4xf16> -> tensor<f16>
    // CHECK: scf.condition(%{{.*}}) %[[Y32]] : tensor<4x4xf32>
    %r = scf.while (%h = %x) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
      %y = ad.dot %h, %h : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %m = ad.reduce_max %y axes [0, 1] : tensor<4x4xf32> -> tensor<f32>
      %more = ad.compare lt %m, %zero : tensor<f32>
      %flag = tensor.extract %more[] : tensor<i1>
      scf.condition(%flag) %y : tensor<4x4xf32>
    } do {
    ^bb0(%h: tensor<4x4xf32>):
      scf.yield %h : tensor<4x4xf32>
    }
    return %r : tensor<4x4xf32>
  }

  // CHECK-LABEL: func.func @branch
  // CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>,
  func.func @branch(%x: tensor<4x4xf32>, %flag: i1) -> tensor<4x4xf32> {
    // CHECK-NEXT: %[[X16:.*]] = ad.cast %[[X]]
    // CHECK-NEXT: scf.if %{{.*}} -> (tensor<4x4xf32>) {
    // CHECK-NEXT: %[[Y:.*]] = ad.dot %[[X16]], %[[X16]]
    // CHECK-NEXT: %[[Y32:.*]] = ad.cast %[[Y]]
    // CHECK-NEXT: scf.yield %[[Y32]]
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %[[X]]
    %r = scf.if %flag -> tensor<4x4xf32> {
      %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %y : tensor<4x4xf32>
    } else {
      scf.yield %x : tensor<4x4xf32>
    }
    return %r : tensor<4x4xf32>
  }
}
