// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-cpu-fusion | FileCheck %s -enable-var-scope

// Nothing computes the argument, so the contraction converts it; its kernel has the f32 operand.
// CHECK-LABEL: @argument
// CHECK: ad.fusion dot ({{.*}}) {{.*}} : (tensor<64x256xbf16>, tensor<256x128xf32>)
// CHECK-NEXT: ad.cast
// CHECK-NEXT: ad.dot
// CHECK-NOT: ad.fusion
func.func @argument(%x: tensor<64x256xbf16>, %w: tensor<256x128xf32>) -> tensor<64x128xbf16> {
  %c = ad.cast %w : tensor<256x128xf32> -> tensor<256x128xbf16>
  %y = ad.dot %x, %c : (tensor<64x256xbf16>, tensor<256x128xbf16>) -> tensor<64x128xbf16>
  return %y : tensor<64x128xbf16>
}

// -----

// The kernel that computes the value stores it in bf16.
// CHECK-LABEL: @producer
// CHECK: ad.fusion elementwise
// CHECK: ad.exp
// CHECK-NEXT: ad.cast
// CHECK: ad.fusion dot ({{.*}}) {{.*}} : (tensor<64x256xbf16>, tensor<256x128xbf16>)
// CHECK-NEXT: ad.dot
func.func @producer(%x: tensor<64x256xbf16>, %w: tensor<256x128xf32>) -> tensor<64x128xbf16> {
  %e = ad.exp %w : tensor<256x128xf32>
  %c = ad.cast %e : tensor<256x128xf32> -> tensor<256x128xbf16>
  %y = ad.dot %x, %c : (tensor<64x256xbf16>, tensor<256x128xbf16>) -> tensor<64x128xbf16>
  return %y : tensor<64x128xbf16>
}

// -----

// Each tile of columns would convert the operand of the rows again.
// CHECK-LABEL: @rows
// CHECK: ad.fusion elementwise
// CHECK-NEXT: ad.cast
// CHECK: ad.fusion dot
// CHECK-NEXT: ad.dot
func.func @rows(%x: tensor<64x256xf32>, %w: tensor<256x128xbf16>) -> tensor<64x128xbf16> {
  %c = ad.cast %x : tensor<64x256xf32> -> tensor<64x256xbf16>
  %y = ad.dot %c, %w : (tensor<64x256xbf16>, tensor<256x128xbf16>) -> tensor<64x128xbf16>
  return %y : tensor<64x128xbf16>
}

// -----

// A user that is no contraction reads the converted value from memory.
// CHECK-LABEL: @other_user
// CHECK: ad.fusion dot ({{.*}}) {{.*}} : (tensor<64x256xbf16>, tensor<256x128xbf16>)
// CHECK-NEXT: ad.dot
func.func @other_user(%x: tensor<64x256xbf16>, %w: tensor<256x128xf32>)
    -> (tensor<64x128xbf16>, tensor<256x128xbf16>) {
  %c = ad.cast %w : tensor<256x128xf32> -> tensor<256x128xbf16>
  %y = ad.dot %x, %c : (tensor<64x256xbf16>, tensor<256x128xbf16>) -> tensor<64x128xbf16>
  return %y, %c : tensor<64x128xbf16>, tensor<256x128xbf16>
}

// -----

// Columns along K that are too long to pack, with more rows than one tile.
// CHECK-LABEL: @long_k
// CHECK: ad.fusion elementwise
// CHECK-NEXT: ad.cast
// CHECK: ad.fusion dot
func.func @long_k(%x: tensor<64x8194xbf16>, %w: tensor<8194x16xf32>) -> tensor<64x16xbf16> {
  %c = ad.cast %w : tensor<8194x16xf32> -> tensor<8194x16xbf16>
  %y = ad.dot %x, %c : (tensor<64x8194xbf16>, tensor<8194x16xbf16>) -> tensor<64x16xbf16>
  return %y : tensor<64x16xbf16>
}
