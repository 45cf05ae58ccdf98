// RUN: ad-opt %s --ad-decompose | FileCheck %s

// Five keys in chunks of two: a loop over two chunks, and the rest, which causal hides from all three queries.
// CHECK-LABEL: func.func @chunks(
// CHECK-NOT:   ad.attention
// CHECK:       scf.for
// CHECK:       scf.if
// CHECK:       ad.dot {{.*}} -> tensor<1x2x3x2xf32>
// CHECK:       ad.reduce_max
// CHECK:       ad.dot {{.*}} -> tensor<1x2x3x4xf32>
// CHECK:       } else {
// CHECK-NOT:   ad.dot
// CHECK:       ad.div
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @chunks(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32> {
  %y, %l = ad.attention %q, %k, %k causal chunk 2 : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// Blocks of 256 queries meet chunks of 256 keys: no tensor has 300 x 300 elements, forward or backward.
// CHECK-LABEL: func.func @blocks(
// CHECK-NOT:   300x300
// CHECK:       scf.for
// CHECK:       scf.for
// CHECK:       tensor<1x2x256x256xf32>
// CHECK:       return
func.func @blocks(%q: tensor<1x2x300x4xf32>, %s: tensor<1x2x300xf32>) -> (tensor<1x2x300x4xf32>, tensor<1x2x300x4xf32>) {
  %y, %l = ad.attention %q, %q, %q : tensor<1x2x300x4xf32>, tensor<1x2x300x4xf32>, tensor<1x2x300x4xf32>
  %g:3 = ad.attention_grad %q, %q, %q, %l, %s, %y : tensor<1x2x300x4xf32>, tensor<1x2x300x4xf32>,
      tensor<1x2x300x4xf32>, tensor<1x2x300xf32>, tensor<1x2x300xf32>, tensor<1x2x300x4xf32>
  return %y, %g#0 : tensor<1x2x300x4xf32>, tensor<1x2x300x4xf32>
}

// One query: 4096 keys are one chunk.
// CHECK-LABEL: func.func @one_query(
// CHECK-NOT:   scf.for
// CHECK:       tensor<1x2x1x4096xf32>
func.func @one_query(%q: tensor<1x2x1x4xf32>, %k: tensor<1x2x4096x4xf32>) -> tensor<1x2x1x4xf32> {
  %y, %l = ad.attention %q, %k, %k : tensor<1x2x1x4xf32>, tensor<1x2x4096x4xf32>, tensor<1x2x4096x4xf32>
  return %y : tensor<1x2x1x4xf32>
}

// Heads that share keys are rows of one product. Of open numbers of queries and keys each block has an open size, and its
// code is there once.
// CHECK-LABEL: func.func @open(
// CHECK:       scf.for
// CHECK:       arith.minui
// CHECK:       scf.for
// CHECK:       ad.dot {{.*}} -> tensor<?x2x?x?xf32>
func.func @open(%q: tensor<?x6x?x4xf16>, %k: tensor<?x2x?x4xf16>) -> tensor<?x6x?x4xf16> {
  %y, %l = ad.attention %q, %k, %k causal : tensor<?x6x?x4xf16>, tensor<?x2x?x4xf16>, tensor<?x2x?x4xf16>
  return %y : tensor<?x6x?x4xf16>
}
