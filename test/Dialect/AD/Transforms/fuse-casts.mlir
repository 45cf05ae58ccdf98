// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels convert the elements that they read, instead of a kernel that only casts.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-cpu-fusion | FileCheck %s -enable-var-scope
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-gpu-fusion | FileCheck %s --check-prefix=GPU

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

// -----

// On GPUs, a contraction with one tile of rows converts while it stages the operand. With more rows it would lose
// asynchronous copies and wgmma.
// GPU-LABEL: @one_tile
// GPU: ad.fusion dot
// GPU-NEXT: ad.cast
// GPU-NEXT: ad.dot
// CHECK-LABEL: @one_tile
func.func @one_tile(%x: tensor<64x256xbf16>, %w: tensor<256x128xf32>) -> tensor<64x128xbf16> {
  %c = ad.cast %w : tensor<256x128xf32> -> tensor<256x128xbf16>
  %y = ad.dot %x, %c : (tensor<64x256xbf16>, tensor<256x128xbf16>) -> tensor<64x128xbf16>
  return %y : tensor<64x128xbf16>
}

// -----

// GPU-LABEL: @two_tiles
// GPU: ad.fusion elementwise
// GPU-NEXT: ad.cast
// GPU: ad.fusion dot
// GPU-NEXT: ad.dot
// CHECK-LABEL: @two_tiles
func.func @two_tiles(%x: tensor<65x256xbf16>, %w: tensor<256x128xf32>) -> tensor<65x128xbf16> {
  %c = ad.cast %w : tensor<256x128xf32> -> tensor<256x128xbf16>
  %y = ad.dot %x, %c : (tensor<65x256xbf16>, tensor<256x128xbf16>) -> tensor<65x128xbf16>
  return %y : tensor<65x128xbf16>
}

// -----

// Labels are widened by the kernels that read them, at each point of a row and through views.
// CHECK-LABEL: @labels
// CHECK: ad.fusion reduce ({{.*}} = %arg1) {{.*}}tensor<32xi8>
// CHECK: ad.cast {{.*}} : tensor<32xi8> -> tensor<32xi32>
// CHECK-NOT: ad.fusion elementwise
// GPU-LABEL: @labels
// GPU-NOT: ad.fusion elementwise
// GPU: return
func.func @labels(%x: tensor<32x10xf32>, %labels: tensor<32xi8>) -> tensor<32xf32> {
  %c = ad.cast %labels : tensor<32xi8> -> tensor<32xi32>
  %y = ad.cross_entropy %x, %c : tensor<32x10xf32>, tensor<32xi32> -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// -----

// Three kernels that read f32 read as many bytes as three that read bf16 and the kernel that casts; four read more.
// CHECK-LABEL: @three
// CHECK-COUNT-3: ad.cast
// CHECK-NOT: ad.cast
// CHECK-LABEL: @four
// CHECK: ad.fusion elementwise
// CHECK-NEXT: ad.cast
// CHECK-NEXT: ad.yield
// CHECK-NOT: ad.cast
func.func @three(%x: tensor<32xf32>) -> (tensor<2x32xbf16>, tensor<3x32xbf16>, tensor<4x32xbf16>) {
  %c = ad.cast %x : tensor<32xf32> -> tensor<32xbf16>
  %b2 = ad.broadcast %c : tensor<32xbf16> -> tensor<2x32xbf16>
  %0 = ad.abs %b2 : tensor<2x32xbf16>
  %b3 = ad.broadcast %c : tensor<32xbf16> -> tensor<3x32xbf16>
  %1 = ad.abs %b3 : tensor<3x32xbf16>
  %b4 = ad.broadcast %c : tensor<32xbf16> -> tensor<4x32xbf16>
  %2 = ad.abs %b4 : tensor<4x32xbf16>
  return %0, %1, %2 : tensor<2x32xbf16>, tensor<3x32xbf16>, tensor<4x32xbf16>
}
func.func @four(%x: tensor<32xf32>) -> (tensor<2x32xbf16>, tensor<3x32xbf16>, tensor<4x32xbf16>, tensor<5x32xbf16>) {
  %c = ad.cast %x : tensor<32xf32> -> tensor<32xbf16>
  %b2 = ad.broadcast %c : tensor<32xbf16> -> tensor<2x32xbf16>
  %0 = ad.abs %b2 : tensor<2x32xbf16>
  %b3 = ad.broadcast %c : tensor<32xbf16> -> tensor<3x32xbf16>
  %1 = ad.abs %b3 : tensor<3x32xbf16>
  %b4 = ad.broadcast %c : tensor<32xbf16> -> tensor<4x32xbf16>
  %2 = ad.abs %b4 : tensor<4x32xbf16>
  %b5 = ad.broadcast %c : tensor<32xbf16> -> tensor<5x32xbf16>
  %3 = ad.abs %b5 : tensor<5x32xbf16>
  return %0, %1, %2, %3 : tensor<2x32xbf16>, tensor<3x32xbf16>, tensor<4x32xbf16>, tensor<5x32xbf16>
}

// -----

// The kernel that casts the first copy of a parameter also writes the states that start at zero.
// CHECK-LABEL: @states
// CHECK: %[[S:.+]]:3 = ad.fusion elementwise
// CHECK-NEXT: ad.cast
// CHECK-NEXT: ad.constant dense<0.000000e+00> : tensor<8x8xf32>
// CHECK-NEXT: ad.constant dense<1.000000e+00> : tensor<8x8xf32>
// CHECK-NEXT: ad.yield
// CHECK: scf.for {{.*}} = %[[S]]#1, {{.*}} = %[[S]]#2, {{.*}} = %[[S]]#0)
func.func @states(%w: tensor<8x8xf32>, %x: tensor<8x8xbf16>, %n: index) -> tensor<8x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m0 = ad.constant dense<0.0> : tensor<8x8xf32>
  %v0 = ad.constant dense<1.0> : tensor<8x8xf32>
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%p = %w, %m = %m0, %v = %v0)
      -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %c = ad.cast %p : tensor<8x8xf32> -> tensor<8x8xbf16>
    %y = ad.dot %x, %c : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
    %nm = ad.add %m, %y : tensor<8x8xf32>
    %nv = ad.mul %v, %nm : tensor<8x8xf32>
    %np = ad.sub %p, %nv : tensor<8x8xf32>
    scf.yield %np, %nm, %nv : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#0 : tensor<8x8xf32>
}

// -----

// Each of two large parameters gets a state; the broadcasts that fill them are not kernels of their own. A tensor of another
// shape stays.
// CHECK-LABEL: @large_states
// CHECK: ad.fusion movement
// CHECK: ad.broadcast {{.*}} -> tensor<512x1024xf32>
// CHECK: %[[A:.+]]:2 = ad.fusion elementwise ({{.*}} = %arg0)
// CHECK-NEXT: ad.cast
// CHECK-NEXT: ad.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: ad.broadcast
// CHECK-NEXT: ad.yield
// CHECK: %[[B:.+]]:2 = ad.fusion elementwise ({{.*}} = %arg1)
// CHECK-NEXT: ad.cast
// CHECK-NEXT: ad.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: ad.broadcast
// CHECK-NEXT: ad.yield
// CHECK-NOT: ad.fusion
// CHECK: scf.for {{.*}} = %[[A]]#1, {{.*}} = %[[B]]#1, {{.*}} = %[[A]]#0, {{.*}} = %[[B]]#0)
func.func @large_states(%w: tensor<1024x512xf32>, %u: tensor<1024x512xf32>, %x: tensor<512x1024xbf16>, %n: index)
    -> (tensor<1024x512xf32>, tensor<512x1024xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m0 = ad.constant dense<0.0> : tensor<1024x512xf32>
  %s0 = ad.constant dense<0.0> : tensor<512x1024xf32>
  %r:5 = scf.for %i = %zero to %n step %one iter_args(%p = %w, %q = %u, %m = %m0, %o = %m0, %s = %s0)
      -> (tensor<1024x512xf32>, tensor<1024x512xf32>, tensor<1024x512xf32>, tensor<1024x512xf32>,
          tensor<512x1024xf32>) {
    %c = ad.cast %p : tensor<1024x512xf32> -> tensor<1024x512xbf16>
    %d = ad.cast %q : tensor<1024x512xf32> -> tensor<1024x512xbf16>
    %y = ad.dot %x, %c : (tensor<512x1024xbf16>, tensor<1024x512xbf16>) -> tensor<512x512xf32>
    %h = ad.cast %y : tensor<512x512xf32> -> tensor<512x512xbf16>
    %z = ad.dot %h, %d contract [1] x [1] : (tensor<512x512xbf16>, tensor<1024x512xbf16>) -> tensor<512x1024xf32>
    %t = ad.add %s, %z : tensor<512x1024xf32>
    %nm = ad.add %m, %p : tensor<1024x512xf32>
    %no = ad.add %o, %q : tensor<1024x512xf32>
    %np = ad.sub %p, %nm : tensor<1024x512xf32>
    %nq = ad.sub %q, %no : tensor<1024x512xf32>
    scf.yield %np, %nq, %nm, %no, %t : tensor<1024x512xf32>, tensor<1024x512xf32>, tensor<1024x512xf32>,
        tensor<1024x512xf32>, tensor<512x1024xf32>
  }
  return %r#0, %r#4 : tensor<1024x512xf32>, tensor<512x1024xf32>
}

// -----

// What the backward pass reads is kept in bf16: each kernel that reads it widens it, also where another kernel computes
// it.
// CHECK-LABEL: @kept
// CHECK: %[[Y:.+]]:2 = ad.fusion dot {{.*}} -> (tensor<8x4xbf16>, tensor<8x4xf32>)
// CHECK: ad.fusion reduce (%{{.+}} = %[[Y]]#{{[01]}}) {{.*}} : (tensor<8x4xbf16>) -> tensor<8xf32>
// CHECK-NEXT: ad.cast {{.*}} : tensor<8x4xbf16> -> tensor<8x4xf32>
func.func @kept(%x: tensor<8x16xbf16>, %w: tensor<16x4xbf16>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %y = ad.dot %x, %w : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xbf16>
  %c = ad.cast %y : tensor<8x4xbf16> -> tensor<8x4xf32>
  %e = ad.exp %c : tensor<8x4xf32>
  %s = ad.reduce_sum %c axes [1] : tensor<8x4xf32> -> tensor<8xf32>
  return %e, %s : tensor<8x4xf32>, tensor<8xf32>
}
