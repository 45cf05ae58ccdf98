// RUN: ad-opt %s | FileCheck %s
// RUN: ad-opt %s | ad-opt | FileCheck %s
// RUN: ad-opt %s --mlir-print-op-generic | ad-opt | FileCheck %s

// An order prints in its short form, also if the program writes the levels of the tree one by one.

// CHECK-LABEL: func.func @lanes
// CHECK-SAME: test.orders = [#ad.order<lanes = 64, chunk = 4096>, #ad.order<lanes = 64, chunk = 4096>]
func.func @lanes() attributes {test.orders = [
    #ad.order<lanes = 64, chunk = 4096>, #ad.order<interleaved = 64, halving = 64, pairwise>]} {
  return
}

// One lane is a form of lanes: the order says which axis it belongs to.
// CHECK-LABEL: func.func @one_lane
// CHECK-SAME: test.orders = [#ad.order<lanes = 1, chunk = 8>, #ad.order<lanes = 1, chunk = 8>]
func.func @one_lane() attributes {test.orders = [
    #ad.order<lanes = 1, chunk = 8>, #ad.order<interleaved = 8, halving = 1, pairwise>]} {
  return
}

// CHECK-LABEL: func.func @blocks
// CHECK-SAME: test.orders = [#ad.order<block = 512>, #ad.order<block = 512>]
func.func @blocks() attributes {test.orders = [#ad.order<block = 512>, #ad.order<chain = 512, pairwise>]} {
  return
}

// CHECK-LABEL: func.func @chain
// CHECK: order = #ad.order<chain>
func.func @chain(%x: tensor<4x?xf32>) -> tensor<4xf32> {
  %y = ad.reduce_sum %x axes [1] {order = #ad.order<chain>} : tensor<4x?xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
