// RUN: ad-opt %s --ad-set-numerics=numerics=fast --ad-split-k | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics=numerics=fast --ad-split-k --ad-split-k | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics=numerics=fast --ad-split-k=blocks=4 | FileCheck %s --check-prefix=FEW
// RUN: ad-opt %s --ad-set-numerics=numerics=strict --ad-split-k | FileCheck %s --check-prefix=STRICT
// RUN: ad-opt %s --ad-set-numerics=numerics=fast --ad-split-k --remarks-filter=ad-numerics 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: not ad-opt %s --ad-set-numerics=numerics=fast --ad-split-k=blocks=0 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: error: expected 'blocks' with a number of at least 1, but got 0
//
// The number of parts gives each of 128 thread blocks a tile. No part of K is shorter than 128 (SIMT) or 512 (tensor cores).

// CHECK-LABEL: @weight_gradient
// FEW-LABEL: @weight_gradient
// STRICT-LABEL: @weight_gradient
func.func @weight_gradient(%x: tensor<4096x64xbf16>, %g: tensor<4096x80xbf16>) -> tensor<64x80xbf16> {
  // CHECK: %[[X:.+]] = ad.reshape %{{.+}} : tensor<4096x64xbf16> -> tensor<8x512x64xbf16>
  // CHECK: %[[G:.+]] = ad.reshape %{{.+}} : tensor<4096x80xbf16> -> tensor<8x512x80xbf16>
  // CHECK: %[[PARTS:.+]] = ad.dot %[[X]], %[[G]] batch [0] x [0] contract [1] x [1] {{.*}}order = #ad.order<block = 512>{{.*}} -> tensor<8x64x80xf32>
  // CHECK: %[[SUM:.+]] = ad.reduce_sum %[[PARTS]] axes [0] {{.*}}order = #ad.order<block = 512>{{.*}} -> tensor<64x80xf32>
  // CHECK: ad.cast %[[SUM]] {{.*}} -> tensor<64x80xbf16>
  // FEW: tensor<2x2048x64xbf16>
  // STRICT: ad.dot {{.*}} -> tensor<64x80xbf16>
  // REMARK: remark: {{.*}}split-k
  %y = ad.dot %x, %g contract [0] x [0] : (tensor<4096x64xbf16>, tensor<4096x80xbf16>) -> tensor<64x80xbf16>
  return %y : tensor<64x80xbf16>
}

// Parts of f32 may be shorter. Batch axes follow the new one, free axes keep their order.
// CHECK-LABEL: @between_batch_axes
func.func @between_batch_axes(%x: tensor<3x40x512xf32>, %g: tensor<512x3x48xf32>) -> tensor<3x40x48xf32> {
  // CHECK: ad.reshape %{{.+}} : tensor<3x40x512xf32> -> tensor<3x40x4x128xf32>
  // CHECK: ad.reshape %{{.+}} : tensor<512x3x48xf32> -> tensor<4x128x3x48xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} batch [2, 0] x [0, 2] contract [3] x [1] {{.*}} -> tensor<4x3x40x48xf32>
  // CHECK: ad.reduce_sum %{{.+}} axes [0] {{.*}} : tensor<4x3x40x48xf32> -> tensor<3x40x48xf32>
  %y = ad.dot %x, %g batch [0] x [1] contract [2] x [0] : (tensor<3x40x512xf32>, tensor<512x3x48xf32>) -> tensor<3x40x48xf32>
  return %y : tensor<3x40x48xf32>
}

// The epilogue of a gemm is kept, each step rounded once.
// CHECK-LABEL: @gemm
func.func @gemm(%x: tensor<2048x64xf16>, %w: tensor<2048x32xf16>, %b: tensor<32xf16>) -> tensor<64x32xf16> {
  // CHECK: ad.dot {{.*}} batch [0] x [0] contract [1] x [1] {{.*}} -> tensor<4x64x32xf32>
  // CHECK: %[[SUM:.+]] = ad.reduce_sum {{.*}} -> tensor<64x32xf32>
  // CHECK: %[[ALPHA:.+]] = ad.constant dense<5.000000e-01> : tensor<64x32xf32>
  // CHECK: %[[LEFT:.+]] = ad.mul %[[SUM]], %[[ALPHA]]
  // CHECK: %[[BIAS:.+]] = ad.cast {{.*}} : tensor<32xf16> -> tensor<32xf32>
  // CHECK: %[[BETA:.+]] = ad.constant dense<3.000000e+00> : tensor<32xf32>
  // CHECK: %[[SCALED:.+]] = ad.mul %[[BIAS]], %[[BETA]]
  // CHECK: %[[RIGHT:.+]] = ad.broadcast %[[SCALED]] {{.*}} -> tensor<64x32xf32>
  // CHECK: %[[ALL:.+]] = ad.add %[[LEFT]], %[[RIGHT]]
  // CHECK: ad.cast %[[ALL]] {{.*}} -> tensor<64x32xf16>
  %y = ad.gemm %x, %w, %b {transA, alpha = 0.5, beta = 3.0} : (tensor<2048x64xf16>, tensor<2048x32xf16>, tensor<32xf16>) -> tensor<64x32xf16>
  return %y : tensor<64x32xf16>
}

// Integers wrap, so their sums do not depend on the order: they are split in every mode.
// CHECK-LABEL: @bytes
// STRICT-LABEL: @bytes
func.func @bytes(%x: tensor<64x1024xi8>, %g: tensor<64x1024xi8>) -> tensor<64x64xi32> {
  // STRICT: ad.dot {{.*}} -> tensor<2x64x64xi32>
  // STRICT: ad.reduce_sum {{.*}} : tensor<2x64x64xi32> -> tensor<64x64xi32>
  %y = ad.dot %x, %g contract [1] x [1] : (tensor<64x1024xi8>, tensor<64x1024xi8>) -> tensor<64x64xi32>
  return %y : tensor<64x64xi32>
}

// The parts are equal multiples of 16: 720 = 5 * 144.
// CHECK-LABEL: @equal_parts
func.func @equal_parts(%x: tensor<64x720xf32>, %g: tensor<720x64xf32>) -> tensor<64x64xf32> {
  // CHECK: tensor<64x5x144xf32>
  %y = ad.dot %x, %g : (tensor<64x720xf32>, tensor<720x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// CHECK-LABEL: @left_alone
func.func @left_alone(%prime: tensor<64x1031xf32>, %wide: tensor<1024x1024xf32>, %short: tensor<64x240xf32>,
                      %unknown: tensor<?x64xf32>, %row: tensor<4096xf32>, %column: tensor<4096x64xf32>,
                      %empty: tensor<4096x0xf32>) {
  // CHECK-NOT: ad.reshape
  // CHECK: return
  %0 = ad.dot %prime, %prime contract [1] x [1] : (tensor<64x1031xf32>, tensor<64x1031xf32>) -> tensor<64x64xf32>
  %1 = ad.dot %wide, %wide : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = ad.dot %short, %short contract [1] x [1] : (tensor<64x240xf32>, tensor<64x240xf32>) -> tensor<64x64xf32>
  %3 = ad.dot %unknown, %unknown contract [0] x [0] : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<64x64xf32>
  %4 = ad.dot %row, %column : (tensor<4096xf32>, tensor<4096x64xf32>) -> tensor<64xf32>
  %5 = ad.dot %empty, %column contract [0] x [0] : (tensor<4096x0xf32>, tensor<4096x64xf32>) -> tensor<0x64xf32>
  return
}
