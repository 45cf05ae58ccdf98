// RUN: ad-opt %s --ad-set-numerics=numerics=fast,finite | FileCheck %s
// RUN: not ad-opt %s --ad-set-numerics=numerics=quick 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not ad-opt %s --ad-set-numerics=numerics=strict,exact 2>&1 | FileCheck %s --check-prefix=PERMISSION
// RUN: not ad-opt %s --ad-set-numerics=numerics=strict,fast 2>&1 | FileCheck %s --check-prefix=MODES
// RUN: not ad-opt %s --ad-set-numerics=numerics=strict,mma,mma 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not ad-opt %s --ad-set-numerics=numerics=reproducible,mma 2>&1 | FileCheck %s --check-prefix=NONE

// MODE: set-numerics-override.mlir:[[#@LINE+6]]:1: error: option numerics: expected reproducible, strict or fast as the numerics mode, but got 'quick'
// PERMISSION: error: option numerics: expected reorder, algebra, contract, widen, mma, narrow, approx or finite as a permission, but got 'exact'
// MODES: error: option numerics: expected permissions after the mode 'strict', but got 'fast', a mode too; give one mode
// TWICE: error: option numerics: expected distinct permissions, but got 'mma' twice
// NONE: error: option numerics: expected no permissions after reproducible, which promises the same bits everywhere, but got mma; use strict or fast
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
