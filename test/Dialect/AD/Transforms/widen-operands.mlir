// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-set-numerics=numerics=reproducible --ad-widen-operands | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics=numerics=strict --ad-widen-operands=dot-products | FileCheck %s --check-prefix=DOTS
// RUN: ad-opt %s --ad-set-numerics=numerics=reproducible --ad-widen-operands=dot-products | FileCheck %s

// The result is rounded once, to the type that it has.
// CHECK-LABEL: @f16
// DOTS-LABEL: @f16
func.func @f16(%x: tensor<16x64xf16>, %w: tensor<64x16xf16>) -> tensor<16x16xf16> {
  // CHECK-DAG: %[[X:.+]] = ad.cast %arg0 {{.*}} -> tensor<16x64xf32>
  // CHECK-DAG: %[[W:.+]] = ad.cast %arg1 {{.*}} -> tensor<64x16xf32>
  // CHECK: %[[Y:.+]] = ad.dot %[[X]], %[[W]] {{.*}}order = #ad.order<block = 512>{{.*}} -> tensor<16x16xf32>
  // CHECK-NEXT: ad.cast %[[Y]] {{.*}} -> tensor<16x16xf16>
  // DOTS: ad.dot {{.*}} : (tensor<16x64xf32>, tensor<64x16xf32>)
  %y = ad.dot %x, %w : (tensor<16x64xf16>, tensor<64x16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// Fewer rows read each element of the other operand too rarely.
// CHECK-LABEL: @few_rows
func.func @few_rows(%x: tensor<15x64xf16>, %w: tensor<64x16xf16>) -> tensor<15x16xf16> {
  // CHECK-NOT: ad.cast
  // CHECK: ad.dot
  %y = ad.dot %x, %w : (tensor<15x64xf16>, tensor<64x16xf16>) -> tensor<15x16xf16>
  return %y : tensor<15x16xf16>
}

// Batches share no elements: 8 rows by 8 columns in each.
// CHECK-LABEL: @batches
func.func @batches(%x: tensor<64x8x16xf16>, %y: tensor<64x8x16xf16>) -> tensor<64x8x8xf16> {
  // CHECK-NOT: ad.cast
  // CHECK: ad.dot
  %z = ad.dot %x, %y batch [0] x [0] contract [2] x [2] : (tensor<64x8x16xf16>, tensor<64x8x16xf16>) -> tensor<64x8x8xf16>
  return %z : tensor<64x8x8xf16>
}

// An accumulator that is the result needs no cast, and 8-bit floats of two kinds one each.
// CHECK-LABEL: @bytes
func.func @bytes(%x: tensor<4x5x64xf8E4M3FN>, %w: tensor<16x64xf8E5M2>) -> tensor<4x5x16xf32> {
  // CHECK: %[[Y:.+]] = ad.dot {{.*}} : (tensor<4x5x64xf32>, tensor<16x64xf32>) -> tensor<4x5x16xf32>
  // CHECK-NEXT: return %[[Y]]
  %y = ad.dot %x, %w batch [] x [] contract [2] x [1] : (tensor<4x5x64xf8E4M3FN>, tensor<16x64xf8E5M2>) -> tensor<4x5x16xf32>
  return %y : tensor<4x5x16xf32>
}

// With dot-product instructions, contractions that permit them keep their operands.
// CHECK-LABEL: @bf16
// DOTS-LABEL: @bf16
func.func @bf16(%x: tensor<?x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<?x128xbf16> {
  // CHECK: ad.dot {{.*}} : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
  // DOTS-NOT: ad.cast
  // DOTS: ad.dot
  // DOTS-NEXT: return
  %y = ad.dot %x, %w : (tensor<?x64xbf16>, tensor<64x128xbf16>) -> tensor<?x128xbf16>
  return %y : tensor<?x128xbf16>
}

// CHECK-LABEL: @few_columns_of_bf16
func.func @few_columns_of_bf16(%x: tensor<?x64xbf16>, %w: tensor<64x127xbf16>) -> tensor<?x127xbf16> {
  // CHECK-NOT: ad.cast
  // CHECK: ad.dot
  %y = ad.dot %x, %w : (tensor<?x64xbf16>, tensor<64x127xbf16>) -> tensor<?x127xbf16>
  return %y : tensor<?x127xbf16>
}

// The bias is added in the accumulator, before the only rounding.
// CHECK-LABEL: @gemm
func.func @gemm(%x: tensor<16x64xf16>, %w: tensor<16x64xf16>, %b: tensor<16xf16>) -> tensor<16x16xf16> {
  // CHECK: %[[Y:.+]] = ad.gemm {{.*}} {{{.*}}transB{{.*}}} : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  // CHECK-NEXT: ad.cast %[[Y]] {{.*}} -> tensor<16x16xf16>
  %y = ad.gemm %x, %w, %b {transB} : (tensor<16x64xf16>, tensor<16x64xf16>, tensor<16xf16>) -> tensor<16x16xf16>
  return %y : tensor<16x16xf16>
}

// Products of a loop share the cast of an operand that the loop does not change, before it.
// CHECK-LABEL: @loop
func.func @loop(%x: tensor<16x16xf16>, %w: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  // CHECK: %[[W:.+]] = ad.cast %arg1
  // CHECK: scf.for
  // CHECK: %[[A:.+]] = ad.cast %{{.+}} : tensor<16x16xf16>
  // CHECK-NEXT: %[[B:.+]] = ad.dot %[[A]], %[[W]]
  // CHECK-NEXT: %[[C:.+]] = ad.cast %[[B]] {{.*}} -> tensor<16x16xf16>
  // CHECK-NEXT: %[[D:.+]] = ad.cast %[[C]] {{.*}} -> tensor<16x16xf32>
  // CHECK-NEXT: ad.dot %[[D]], %[[W]]
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<16x16xf16> {
    %b = ad.dot %a, %w : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
    %c = ad.dot %b, %w : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
    scf.yield %c : tensor<16x16xf16>
  }
  return %y : tensor<16x16xf16>
}

// f32 and integers have no wider accumulator of floats.
// CHECK-LABEL: @others
func.func @others(%x: tensor<16x16xf32>, %y: tensor<16x16xi8>) -> (tensor<16x16xf32>, tensor<16x16xi32>) {
  // CHECK-NOT: ad.cast
  // CHECK: return
  %0 = ad.dot %x, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = ad.dot %y, %y : (tensor<16x16xi8>, tensor<16x16xi8>) -> tensor<16x16xi32>
  return %0, %1 : tensor<16x16xf32>, tensor<16x16xi32>
}
