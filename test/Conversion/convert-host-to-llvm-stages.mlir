// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-host-to-llvm=device=true --split-input-file --verify-diagnostics | FileCheck %s

// A kernel of several launches: its function of the host says how much memory is between them, and how many blocks each
// has, at least 1 and at most 65535.
// CHECK: adrt.kernel_names = ["k$first", "k$second"]
// CHECK-LABEL: func.func @adrt_entry_main
// CHECK: %[[SIZES:.+]]:3 = call @k$stage_sizes(%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}})
// CHECK: %[[BYTES:.+]] = arith.index_cast %[[SIZES]]#0
// CHECK: %[[MEMORY:.+]] = llvm.call @adrt_buffer(%{{[^,]+}}, %{{[^,]+}}, %[[BYTES]])
// CHECK: llvm.call @adrt_require_allocated(%{{[^,]+}}, %[[MEMORY]]
// CHECK: ad.guard
// CHECK: %[[FEW:.+]] = arith.minui %[[SIZES]]#1, %c65535
// CHECK: arith.maxui %[[FEW]], %c1
// CHECK: llvm.store %[[MEMORY]]
// CHECK: llvm.call @adrt_launch
// CHECK: ad.guard
// CHECK: arith.minui %[[SIZES]]#2, %c65535
// CHECK: llvm.store %[[MEMORY]]
// CHECK: llvm.call @adrt_launch
// CHECK: ad.guard
// CHECK: return
func.func private @k$stage_sizes(%x: !llvm.ptr, %n: index, %y: !llvm.ptr) -> (index, index, index) {
  return %n, %n, %n : index, index, index
}
func.func private @k$first(!llvm.ptr, index, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func private @k$second(!llvm.ptr, index, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 32>}
func.func private @k(!llvm.ptr, index, !llvm.ptr) attributes {ad.launch_stages = ["$first", "$second"], ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func @main(%x: tensor<?xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %y = ad.launch @k(%x) into(%b0) : (tensor<?xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Without the function of the host.
func.func private @k$first(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_stages = ["$first"], ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @below {{launches a kernel that has ad.launch_stages, but not the functions next to it; expected @k with $stage_sizes and with each suffix}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A function of the host that has no blocks for the second stage.
func.func private @k$stage_sizes(%x: !llvm.ptr, %y: !llvm.ptr) -> (index, index) {
  %c = arith.constant 1 : index
  return %c, %c : index, index
}
func.func private @k$first(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func private @k$second(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_stages = ["$first", "$second"], ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @below {{expected @k with $stage_sizes and with each suffix}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_stages = "$first", ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @below {{launches a kernel whose ad.launch_stages is no array of suffixes}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k$stage_sizes(%x: !llvm.ptr, %y: !llvm.ptr) -> (index, index) {
  %c = arith.constant 1 : index
  return %c, %c : index, index
}
func.func private @k$first(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 3, tile = 64>}
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_stages = ["$first"], ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @below {{expected the launch_config of its kernel to enumerate at most 1 axes of result 0, but got 3}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
