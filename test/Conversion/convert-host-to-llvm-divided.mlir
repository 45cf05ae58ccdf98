// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-host-to-llvm=device=true --split-input-file --verify-diagnostics | FileCheck %s

// The host function of the kernel decides by the sizes and the SM count; nodes are in memory after the pools of the plan, of which there is one.
// CHECK: adrt.kernel_names = ["k$partial", "k$merge", "k"]
// CHECK-LABEL: func.func @adrt_entry_main
// CHECK: %[[COUNT:.+]] = llvm.call @adrt_sm_count
// CHECK: %[[SM_COUNT:.+]] = arith.index_cast %[[COUNT]]
// CHECK: %[[SIZES:.+]]:3 = call @k$partial_sizes(%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}, %[[SM_COUNT]])
// CHECK: %[[DIVIDES:.+]] = arith.cmpi ne, %[[SIZES]]#0
// CHECK: scf.if %[[DIVIDES]] {
// CHECK: %[[BYTES:.+]] = arith.index_cast %[[SIZES]]#1
// CHECK: %[[NODES:.+]] = llvm.call @adrt_buffer(%{{[^,]+}}, %{{[^,]+}}, %[[BYTES]])
// CHECK: llvm.call @adrt_require_allocated(%{{[^,]+}}, %[[NODES]]
// CHECK: ad.guard
// CHECK: arith.maxui %[[SIZES]]#2
// CHECK: llvm.store %[[NODES]]
// CHECK: llvm.call @adrt_launch
// CHECK: ad.guard
// CHECK: llvm.store %[[NODES]]
// CHECK: llvm.call @adrt_launch
// CHECK: ad.guard
// CHECK: } else {
// CHECK: llvm.call @adrt_launch
// CHECK: ad.guard
// CHECK: }
// CHECK: return
func.func private @k$partial_sizes(%x: !llvm.ptr, %n: index, %y: !llvm.ptr, %sm_count: index) -> (index, index, index) {
  return %n, %n, %sm_count : index, index, index
}
func.func private @k$partial(!llvm.ptr, index, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<thread, axes = 0>}
func.func private @k$merge(!llvm.ptr, index, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<warp, axes = 1>}
func.func private @k(!llvm.ptr, index, !llvm.ptr) attributes {ad.partial_reductions = "sizes", ad.launch_config = #ad.launch_config<thread, axes = 1>}
func.func @main(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %y = ad.launch @k(%x) into(%b0) : (tensor<?x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// One that is always divided has no kernel of its own.
// CHECK: adrt.kernel_names = ["k$partial", "k$merge"]
// CHECK-LABEL: func.func @adrt_entry_main
// CHECK-NOT: scf.if
// CHECK-COUNT-2: llvm.call @adrt_launch
// CHECK-NOT: llvm.call @adrt_launch
// CHECK: return
func.func private @k$partial_sizes(%x: !llvm.ptr, %y: !llvm.ptr, %sm_count: index) -> (index, index, index) {
  return %sm_count, %sm_count, %sm_count : index, index, index
}
func.func private @k$partial(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<thread, axes = 0>}
func.func private @k$merge(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<warp, axes = 1>}
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.partial_reductions = "always", ad.launch_config = #ad.launch_config<warp, axes = 1>}
func.func @main(%x: tensor<9x4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %y = ad.launch @k(%x) into(%b0) : (tensor<9x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.partial_reductions = 2 : i64, ad.launch_config = #ad.launch_config<warp, axes = 1>}
func.func @main(%x: tensor<9x4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @below {{launches a kernel whose ad.partial_reductions does not say when; expected "always" or "sizes"}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<9x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k$partial(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<thread, axes = 0>}
func.func private @k$merge(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<warp, axes = 1>}
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.partial_reductions = "always", ad.launch_config = #ad.launch_config<warp, axes = 1>}
func.func @main(%x: tensor<9x4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @below {{launches a kernel that has ad.partial_reductions, but not the functions next to it; expected @k with $partial_sizes, $partial and $merge}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<9x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k$partial_sizes(%x: !llvm.ptr, %y: !llvm.ptr, %sm_count: index) -> (index, index, index) {
  return %sm_count, %sm_count, %sm_count : index, index, index
}
func.func private @k$partial(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<thread, axes = 0>}
func.func private @k$merge(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<warp, axes = 7>}
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.partial_reductions = "always", ad.launch_config = #ad.launch_config<warp, axes = 1>}
func.func @main(%x: tensor<9x4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @below {{expected the launch_config of its kernel to enumerate at most 1 axes of result 0, but got 7}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<9x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
