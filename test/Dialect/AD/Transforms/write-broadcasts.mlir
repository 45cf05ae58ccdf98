// RUN: ad-opt %s --ad-write-broadcasts | FileCheck %s
// RUN: ad-opt %s --ad-write-broadcasts --ad-write-broadcasts | FileCheck %s
// RUN: ad-opt %s --ad-write-broadcasts --ad-verify-numerics -o /dev/null

// CHECK: module attributes {ad.numerics = #ad.numerics<strict>}
module attributes {ad.numerics = #ad.numerics<strict>} {
  // The permissions and the order stay as they are, although the contract has others.
  // CHECK-LABEL: @two_sizes
  // CHECK-SAME: %[[X:.+]]: tensor<?x4xf32>, %[[Y:.+]]: tensor<?x4xf32>
  func.func @two_sizes(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?xf32> {
    // CHECK: %[[XW:.+]] = ad.broadcast %[[X]](%[[N:.+]]) {allow = #ad.allow<reorder>}
    // CHECK: %[[YW:.+]] = ad.broadcast %[[Y]](%[[N]]) {allow = #ad.allow<reorder>}
    // CHECK: %[[Z:.+]] = ad.add %[[XW]], %[[YW]] {allow = #ad.allow<reorder>}
    // CHECK: ad.reduce_sum %[[Z]] axes [1] {allow = #ad.allow<none>, order = #ad.order<block = 2>}
    %z = ad.add %x, %y {allow = #ad.allow<reorder>} : tensor<?x4xf32>
    %s = ad.reduce_sum %z axes [1] {allow = #ad.allow<none>, order = #ad.order<block = 2>} : tensor<?x4xf32> -> tensor<?xf32>
    return %s : tensor<?xf32>
  }

  // CHECK-LABEL: @one_size
  // CHECK-NOT: ad.broadcast
  // CHECK: return
  func.func @one_size(%x: tensor<?xf32>) -> tensor<?xf32> {
    %y = ad.exp %x {allow = #ad.allow<none>} : tensor<?xf32>
    %z = ad.add %x, %y {allow = #ad.allow<none>} : tensor<?xf32>
    return %z : tensor<?xf32>
  }
}
