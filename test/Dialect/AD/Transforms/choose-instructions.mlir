// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-set-numerics=numerics=strict --ad-choose-instructions --remarks-filter=ad-gpu 2> %t.strict | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.strict
// RUN: ad-opt %s --ad-set-numerics=numerics=reproducible --ad-choose-instructions --remarks-filter=ad-gpu 2> %t.exact | FileCheck %s --check-prefix=NONE --implicit-check-not='k = 16' --implicit-check-not='promote = 128'
// RUN: FileCheck %s --check-prefix=LACKS < %t.exact
// RUN: ad-opt %s --ad-set-numerics=numerics=fast --ad-choose-instructions | FileCheck %s --check-prefixes=NONE,WRITTEN --implicit-check-not='k = 16' --implicit-check-not='promote = 128'
// RUN: ad-opt %s --ad-set-numerics=numerics=strict --ad-choose-instructions --ad-fuse | FileCheck %s --check-prefix=FUSED

// LACKS: no-tensor-cores {{.*}}reason="it lacks the permission mma"

// CHECK-LABEL: @halves
// WHY-DAG: tensor-cores {{.*}}instruction=mma.sync.m16n8k16, operation=ad.dot
// FUSED-LABEL: @halves
func.func @halves(%x: tensor<2x5x40xf16>, %w: tensor<40x7xf16>) -> tensor<2x5x7xf16> {
  // CHECK: ad.dot {{.*}}ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>
  %0 = ad.dot %x, %w : (tensor<2x5x40xf16>, tensor<40x7xf16>) -> tensor<2x5x7xf16>
  // FUSED: ad.dot
  // FUSED-NEXT: ad.relu
  %y = ad.relu %0 : tensor<2x5x7xf16>
  return %y : tensor<2x5x7xf16>
}

// The instruction of 8-bit floats has sums that are promoted. Without one, they are cast to f16, and the f32 accumulator
// is rounded once.
// CHECK-LABEL: @bytes
// NONE-LABEL: @bytes
// WHY-DAG: tensor-cores {{.*}}instruction=mma.sync.m16n8k32, operation=ad.dot, promote=128
func.func @bytes(%x: tensor<4x64xf8E4M3FN>, %w: tensor<64x16xf8E5M2>) -> tensor<4x16xf8E5M2> {
  // CHECK-NEXT: ad.dot %arg0, %arg1 {{.*}}ad.instruction = #ad.instruction<m = 16, n = 8, k = 32, promote = 128>{{.*}} -> tensor<4x16xf8E5M2>
  // NONE-DAG: %[[X:.+]] = ad.cast %arg0 {{.*}} -> tensor<4x64xf16>
  // NONE-DAG: %[[W:.+]] = ad.cast %arg1 {{.*}} -> tensor<64x16xf16>
  // NONE: %[[Y:.+]] = ad.dot %[[X]], %[[W]] {{.*}} -> tensor<4x16xf32>
  // NONE-NEXT: ad.cast %[[Y]] {{.*}} -> tensor<4x16xf8E5M2>
  %y = ad.dot %x, %w : (tensor<4x64xf8E4M3FN>, tensor<64x16xf8E5M2>) -> tensor<4x16xf8E5M2>
  return %y : tensor<4x16xf8E5M2>
}

// CHECK-LABEL: @bias
// NONE-LABEL: @bias
func.func @bias(%x: tensor<4x64xf8E5M2>, %w: tensor<16x64xf8E5M2>, %b: tensor<16xf8E5M2>) -> tensor<4x16xf8E5M2> {
  // CHECK-NEXT: ad.gemm %arg0, %arg1, %arg2 {{.*}}ad.instruction = #ad.instruction<m = 16, n = 8, k = 32, promote = 128>
  // NONE: ad.gemm {{.*}}(tensor<4x64xf16>, tensor<16x64xf16>, tensor<16xf16>) -> tensor<4x16xf32>
  %y = ad.gemm %x, %w, %b {transB} : (tensor<4x64xf8E5M2>, tensor<16x64xf8E5M2>, tensor<16xf8E5M2>) -> tensor<4x16xf8E5M2>
  return %y : tensor<4x16xf8E5M2>
}

// A program may write how often the sums are promoted.
// CHECK-LABEL: @written
// WRITTEN-LABEL: @written
func.func @written(%x: tensor<4x64xf8E5M2>, %w: tensor<64x16xf8E5M2>) -> tensor<4x16xf32> {
  // CHECK-NEXT: ad.dot %arg0, %arg1 {{.*}}promote = 64>
  // WRITTEN-NEXT: ad.dot %arg0, %arg1 {{.*}}promote = 64>
  %y = ad.dot %x, %w {ad.instruction = #ad.instruction<m = 16, n = 8, k = 32, promote = 64>}
      : (tensor<4x64xf8E5M2>, tensor<64x16xf8E5M2>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// CHECK-LABEL: @none
// CHECK-NOT: ad.instruction
func.func @none(%x: tensor<4x64xf32>, %v: tensor<64xbf16>, %a: tensor<2x3x4x5xbf16>, %b: tensor<2x3x4x6x7xbf16>)
    -> (tensor<4x4xf32>, tensor<bf16>, tensor<2x3x6x7xbf16>, tensor<3x5x6x7xbf16>) {
  // WHY-DAG: no-tensor-cores {{.*}}reason="tensor cores multiply its types only after rounding them"
  %0 = ad.dot %x, %x contract [1] x [1] : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x4xf32>
  // WHY-DAG: no-tensor-cores {{.*}}reason="it sums over lanes"
  %1 = ad.dot %v, %v : (tensor<64xbf16>, tensor<64xbf16>) -> tensor<bf16>
  // WHY-DAG: no-tensor-cores {{.*}}reason="an operand has no free axis"
  %s = ad.slice %a [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x3x4x5xbf16> -> tensor<2x3x4x1xbf16>
  %r = ad.reshape %s : tensor<2x3x4x1xbf16> -> tensor<2x3x4xbf16>
  %3 = ad.dot %r, %b batch [0, 1] x [0, 1] contract [2] x [2] : (tensor<2x3x4xbf16>, tensor<2x3x4x6x7xbf16>) -> tensor<2x3x6x7xbf16>
  // WHY-DAG: no-tensor-cores {{.*}}reason="it contracts no axis, or several axes that are not adjacent in both operands"
  %4 = ad.dot %a, %b batch [1] x [1] contract [0, 2] x [0, 2] : (tensor<2x3x4x5xbf16>, tensor<2x3x4x6x7xbf16>) -> tensor<3x5x6x7xbf16>
  return %0, %1, %3, %4 : tensor<4x4xf32>, tensor<bf16>, tensor<2x3x6x7xbf16>, tensor<3x5x6x7xbf16>
}

// Operands may have several free axes.
// CHECK-LABEL: @several_free_axes
func.func @several_free_axes(%x: tensor<2x3x64xbf16>, %w: tensor<64x4x8xbf16>, %u: tensor<4x64x8xbf16>)
    -> (tensor<2x3x4x8xbf16>, tensor<2x3x4x8xbf16>) {
  // CHECK-NEXT: ad.dot %arg0, %arg1 {{.*}}ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>
  // CHECK-NEXT: ad.dot %arg0, %arg2 {{.*}}ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>
  %0 = ad.dot %x, %w contract [2] x [0] : (tensor<2x3x64xbf16>, tensor<64x4x8xbf16>) -> tensor<2x3x4x8xbf16>
  %1 = ad.dot %x, %u contract [2] x [1] : (tensor<2x3x64xbf16>, tensor<4x64x8xbf16>) -> tensor<2x3x4x8xbf16>
  return %0, %1 : tensor<2x3x4x8xbf16>, tensor<2x3x4x8xbf16>
}

// A column sum and a second product have kernels of their own.
// CHECK-LABEL: @apart
// FUSED-LABEL: @apart
func.func @apart(%x: tensor<32x64xbf16>, %w: tensor<64x16xbf16>) -> (tensor<16xf32>, tensor<32x16xf32>) {
  // FUSED: ad.fusion
  // FUSED: ad.dot
  // FUSED-NEXT: ad.yield
  // FUSED: ad.fusion
  // FUSED: ad.dot
  // FUSED: ad.yield
  // FUSED: ad.fusion reduce
  %0 = ad.dot %x, %w : (tensor<32x64xbf16>, tensor<64x16xbf16>) -> tensor<32x16xf32>
  %e = ad.exp %x : tensor<32x64xbf16>
  %1 = ad.dot %e, %w : (tensor<32x64xbf16>, tensor<64x16xbf16>) -> tensor<32x16xf32>
  %2 = ad.add %0, %1 : tensor<32x16xf32>
  %3 = ad.reduce_sum %2 axes [0] : tensor<32x16xf32> -> tensor<16xf32>
  return %3, %2 : tensor<16xf32>, tensor<32x16xf32>
}

// 32 tiles of 64 x 64 are a quarter of a large GPU. Eight parts of K make 256 of them.
// CHECK-LABEL: @weight_gradient
// NONE-LABEL: @weight_gradient
// WHY-DAG: tensor-cores {{.*}}chain=1024, instruction=mma.sync.m16n8k16, operation=ad.dot
func.func @weight_gradient(%x: tensor<8192x256xbf16>, %g: tensor<8192x512xbf16>) -> tensor<256x512xf32> {
  // CHECK: ad.dot {{.*}}#ad.instruction<m = 16, n = 8, k = 16, chain = 1024>
  %y = ad.dot %x, %g contract [0] x [0] : (tensor<8192x256xbf16>, tensor<8192x512xbf16>) -> tensor<256x512xf32>
  return %y : tensor<256x512xf32>
}

// One row of tiles, and a K of 4096: eight parts of 512 each.
// CHECK-LABEL: @few_rows
// NONE-LABEL: @few_rows
func.func @few_rows(%x: tensor<3x4096xbf16>, %w: tensor<4096x2048xbf16>) -> tensor<3x2048xbf16> {
  // CHECK: ad.dot {{.*}}#ad.instruction<m = 16, n = 8, k = 16, chain = 512>
  %y = ad.dot %x, %w : (tensor<3x4096xbf16>, tensor<4096x2048xbf16>) -> tensor<3x2048xbf16>
  return %y : tensor<3x2048xbf16>
}

// An open K counts as 8192.
// CHECK-LABEL: @open_length
// NONE-LABEL: @open_length
func.func @open_length(%x: tensor<?x256xbf16>, %g: tensor<?x512xbf16>) -> tensor<256x512xf32> {
  // CHECK: ad.dot {{.*}}#ad.instruction<m = 16, n = 8, k = 16, chain = 1024>
  %y = ad.dot %x, %g contract [0] x [0] : (tensor<?x256xbf16>, tensor<?x512xbf16>) -> tensor<256x512xf32>
  return %y : tensor<256x512xf32>
}

// Groups of heads: all tiles count, along all free axes.
// CHECK-LABEL: @many_tiles
// NONE-LABEL: @many_tiles
func.func @many_tiles(%x: tensor<8x64x4096xbf16>, %w: tensor<8x4096x4x256xbf16>) -> tensor<8x64x4x256xf32> {
  // CHECK: ad.dot {{.*}}#ad.instruction<m = 16, n = 8, k = 16>
  %y = ad.dot %x, %w batch [0] x [0] contract [2] x [1] : (tensor<8x64x4096xbf16>, tensor<8x4096x4x256xbf16>) -> tensor<8x64x4x256xf32>
  return %y : tensor<8x64x4x256xf32>
}

// A short K is not worth another kernel, and an open result may have any number of tiles.
// CHECK-LABEL: @one_chain
// NONE-LABEL: @one_chain
func.func @one_chain(%x: tensor<64x1500xbf16>, %w: tensor<1500x64xbf16>, %open: tensor<?x4096xbf16>, %v: tensor<4096x64xbf16>) -> (tensor<64x64xf32>, tensor<?x64xf32>) {
  // CHECK: ad.dot {{.*}}#ad.instruction<m = 16, n = 8, k = 16>
  %y = ad.dot %x, %w : (tensor<64x1500xbf16>, tensor<1500x64xbf16>) -> tensor<64x64xf32>
  // CHECK: ad.dot {{.*}}#ad.instruction<m = 16, n = 8, k = 16>
  %z = ad.dot %open, %v : (tensor<?x4096xbf16>, tensor<4096x64xbf16>) -> tensor<?x64xf32>
  return %y, %z : tensor<64x64xf32>, tensor<?x64xf32>
}
