// RUN: ad-opt %s --ad-set-numerics=numerics=fast,finite | FileCheck %s
// RUN: not ad-opt %s --ad-set-numerics=numerics=quick 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not ad-opt %s --ad-set-numerics=numerics=strict,exact 2>&1 | FileCheck %s --check-prefix=PERMISSION

// MODE: set-numerics-override.mlir:[[#@LINE+3]]:1: error: expected reproducible, strict or fast as the numerics mode, but got 'quick'
// PERMISSION: error: expected reorder, algebra, contract, widen, mma, narrow, approx or finite as a permission, but got 'exact'
// CHECK: module attributes {ad.numerics = #ad.numerics<fast, finite>}
module attributes {ad.numerics = #ad.numerics<reproducible>} {
  // CHECK-LABEL: @overridden
  func.func @overridden(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: ad.exp %{{.+}} {allow = #ad.allow<reorder|algebra|contract|widen|mma|approx|finite>}
    %y = ad.exp %x : tensor<4xf32>
    // CHECK: ad.log %{{.+}} {allow = #ad.allow<none>}
    %z = ad.log %y {allow = #ad.allow<none>} : tensor<4xf32>
    return %z : tensor<4xf32>
  }

  // CHECK-LABEL: @refined
  func.func @refined(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ad.numerics = #ad.numerics<strict>} {
    // CHECK: ad.exp %{{.+}} {allow = #ad.allow<reorder|mma>}
    %y = ad.exp %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
