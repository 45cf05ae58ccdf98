// RUN: ad-opt %s --split-input-file --ad-autocast | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-autocast --ad-verify-autocast --ad-autocast | FileCheck %s
// RUN: ad-opt %s --split-input-file --ad-autocast=policy=bf16 --ad-autocast=policy=bf16 | FileCheck %s

// The example of the pass.
// CHECK-LABEL: module {
module attributes {ad.precision = #ad.precision<bf16>} {
  // CHECK-LABEL: func.func @layer
  // CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x2xf32>) -> tensor<4x2xf32> {
  func.func @layer(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
    // CHECK-NEXT: %[[X16:.*]] = ad.cast %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK-NEXT: %[[W16:.*]] = ad.cast %[[W]] : tensor<8x2xf32> -> tensor<8x2xbf16>
    // CHECK-NEXT: %[[Y:.*]] = ad.dot %[[X16]], %[[W16]] : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
    %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    // CHECK-NEXT: %[[Z:.*]] = ad.relu %[[Y]] : tensor<4x2xbf16>
    %z = ad.relu %y : tensor<4x2xf32>
    // CHECK-NEXT: %[[Z32:.*]] = ad.cast %[[Z]] : tensor<4x2xbf16> -> tensor<4x2xf32>
    // CHECK-NEXT: %[[E:.*]] = ad.exp %[[Z32]] : tensor<4x2xf32>
    %e = ad.exp %z : tensor<4x2xf32>
    // CHECK-NEXT: return %[[E]] : tensor<4x2xf32>
    return %e : tensor<4x2xf32>
  }

  // The bias is f32, so the sum is.
  // CHECK-LABEL: func.func @widest
  // CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<2xf32>) -> tensor<4x2xf32>
  func.func @widest(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
    // CHECK: %[[Y:.*]] = ad.dot {{.*}} -> tensor<4x2xbf16>
    // CHECK-NEXT: %[[Y32:.*]] = ad.cast %[[Y]] : tensor<4x2xbf16> -> tensor<4x2xf32>
    // CHECK-NEXT: ad.add %[[Y32]], %[[B]] : tensor<4x2xf32>, tensor<2xf32>
    %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %z = ad.add %y, %b : tensor<4x2xf32>, tensor<2xf32>
    return %z : tensor<4x2xf32>
  }

  // The bias of a gemm is an operand like the others.
  // CHECK-LABEL: func.func @bias
  func.func @bias(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
    // CHECK: ad.gemm {{.*}} {transB} : (tensor<4x8xbf16>, tensor<2x8xbf16>, tensor<2xbf16>) -> tensor<4x2xbf16>
    %y = ad.gemm %x, %w, %b {transB} : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    return %y : tensor<4x2xf32>
  }

  // One cast for each value and type, at the definition; what reads f32 reads the value itself.
  // CHECK-LABEL: func.func @shared
  // CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>)
  func.func @shared(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
    // CHECK-NEXT: %[[E:.*]] = ad.exp %[[X]] : tensor<4x4xf32>
    // CHECK-NEXT: %[[E16:.*]] = ad.cast %[[E]] : tensor<4x4xf32> -> tensor<4x4xbf16>
    // CHECK-NEXT: %[[L:.*]] = ad.log %[[E]] : tensor<4x4xf32>
    // CHECK-NEXT: %[[A:.*]] = ad.dot %[[E16]], %[[E16]] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    // CHECK-NEXT: %[[A32:.*]] = ad.cast %[[A]] : tensor<4x4xbf16> -> tensor<4x4xf32>
    // CHECK-NEXT: %[[C:.*]] = ad.dot %[[A]], %[[E16]] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    // CHECK-NEXT: %[[C32:.*]] = ad.cast %[[C]] : tensor<4x4xbf16> -> tensor<4x4xf32>
    // CHECK-NEXT: return %[[L]], %[[A32]], %[[C32]]
    %e = ad.exp %x : tensor<4x4xf32>
    %l = ad.log %e : tensor<4x4xf32>
    %a = ad.dot %e, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %c = ad.dot %a, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %l, %a, %c : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }

  // Results of other types than the operands' stay, and so do f64, 8-bit floats, integers and booleans.
  // CHECK-LABEL: func.func @others
  func.func @others(%x: tensor<4x4xf32>, %d: tensor<4x4xf64>, %i: tensor<4x4xi32>, %q: tensor<4x4xf8E4M3FN>)
      -> (tensor<4x4xi1>, tensor<4xi64>, tensor<4x4xf64>, tensor<4x4xi32>, tensor<4x4xf32>, tensor<4x4xf16>) {
    // CHECK: %[[Y:.*]] = ad.dot {{.*}} -> tensor<4x4xbf16>
    %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: ad.compare lt %[[Y]], %[[Y]] : tensor<4x4xbf16>
    %less = ad.compare lt %y, %y : tensor<4x4xf32>
    // CHECK-NEXT: ad.argmax %[[Y]] axis 1 : tensor<4x4xbf16>
    %at = ad.argmax %y axis 1 : tensor<4x4xf32>
    // CHECK-NEXT: ad.dot {{.*}} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %dd = ad.dot %d, %d : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    // CHECK-NEXT: ad.dot {{.*}} : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
    %ii = ad.dot %i, %i : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
    // CHECK-NEXT: ad.dot {{.*}} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
    %qq = ad.dot %q, %q : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
    // CHECK-NEXT: ad.cast %[[Y]] : tensor<4x4xbf16> -> tensor<4x4xf16>
    %h = ad.cast %y : tensor<4x4xf32> -> tensor<4x4xf16>
    return %less, %at, %dd, %ii, %qq, %h
        : tensor<4x4xi1>, tensor<4xi64>, tensor<4x4xf64>, tensor<4x4xi32>, tensor<4x4xf32>, tensor<4x4xf16>
  }

  // Calls, feeds, receives, barriers and derivatives have the types that the program says; a size needs no cast.
  // CHECK-LABEL: func.func @boundaries
  // CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>)
  func.func @boundaries(%x: tensor<?x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, index) {
    %c0 = arith.constant 0 : index
    // CHECK: %[[Y:.*]] = ad.dot {{.*}} -> tensor<4x4xbf16>
    // CHECK-NEXT: %[[Y32:.*]] = ad.cast %[[Y]] : tensor<4x4xbf16> -> tensor<4x4xf32>
    // CHECK-NEXT: tensor.dim %[[Y]], {{.*}} : tensor<4x4xbf16>
    // CHECK-NEXT: ad.receive "y"(%[[Y32]]) : tensor<4x4xf32>
    // CHECK-NEXT: call @callee(%[[Y32]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: ad.barrier %[[Y32]] : tensor<4x4xf32>
    // CHECK-NEXT: ad.vjp @callee(%[[Y32]]) cotangents(%[[Y32]])
    // CHECK-NEXT: %[[S:.*]] = ad.stop_gradient %[[Y]] : tensor<4x4xbf16>
    %y = ad.dot %x, %x contract [0] x [0] : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
    %n = tensor.dim %y, %c0 : tensor<4x4xf32>
    ad.receive "y"(%y) : tensor<4x4xf32>
    %z = func.call @callee(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %b = ad.barrier %y : tensor<4x4xf32>
    %v, %dv = ad.vjp @callee(%y) cotangents(%y) wrt [0]
        : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    %s = ad.stop_gradient %y : tensor<4x4xf32>
    return %s, %z, %n : tensor<4x4xf32>, tensor<4x4xf32>, index
  }

  // CHECK-LABEL: func.func private @callee(%{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32>
  func.func private @callee(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // CHECK: ad.dot {{.*}} -> tensor<4x4xbf16>
    %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }

  // What the program rounds stays rounded, and what it accumulates in f32 too.
  // CHECK-LABEL: func.func @written
  func.func @written(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    // CHECK-NEXT: %[[X16:.*]] = ad.cast
    // CHECK-NEXT: %[[X32:.*]] = ad.cast %[[X16]] : tensor<4x4xbf16> -> tensor<4x4xf32>
    // CHECK-NEXT: ad.dot %[[X16]], %[[X16]] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
    // CHECK-NEXT: ad.exp %[[X32]] : tensor<4x4xf32>
    %x16 = ad.cast %x : tensor<4x4xf32> -> tensor<4x4xbf16>
    %y = ad.dot %x16, %x16 : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
    %e = ad.exp %x16 : tensor<4x4xbf16>
    %e32 = ad.cast %e : tensor<4x4xbf16> -> tensor<4x4xf32>
    return %y, %e32 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}
