// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-host-to-llvm=device=true --split-input-file --verify-diagnostics | FileCheck %s

// A sort of long lines: one launch for tiles, and as many as the function of the kernel says that merge their runs. Runs are
// in memory after the pools of the plan.
// CHECK: adrt.kernel_names = ["k$sort_tiles", "k$merge_runs"]
// CHECK-LABEL: func.func @adrt_entry_main
// CHECK: %[[SIZES:.+]]:2 = call @k$run_sizes(%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}})
// CHECK: %[[BYTES:.+]] = arith.index_cast %[[SIZES]]#0
// CHECK: %[[RUNS:.+]] = llvm.call @adrt_buffer(%{{[^,]+}}, %{{[^,]+}}, %[[BYTES]])
// CHECK: llvm.call @adrt_require_allocated(%{{[^,]+}}, %[[RUNS]]
// CHECK: ad.guard
// CHECK: llvm.store %[[RUNS]]
// CHECK: llvm.call @adrt_launch
// CHECK: ad.guard
// CHECK: scf.for %[[NUMBER:.+]] = %{{.+}} to %[[SIZES]]#1
// CHECK: llvm.store %[[RUNS]]
// CHECK: %[[WIDE:.+]] = arith.index_cast %[[NUMBER]] : index to i64
// CHECK: llvm.store %[[WIDE]]
// CHECK: llvm.call @adrt_launch
// CHECK: ad.guard
// CHECK: return
func.func private @k$run_sizes(%x: !llvm.ptr, %n: index, %y: !llvm.ptr) -> (index, index) {
  return %n, %n : index, index
}
func.func private @k$sort_tiles(!llvm.ptr, index, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func private @k$merge_runs(!llvm.ptr, index, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 32>}
func.func private @k(!llvm.ptr, index, !llvm.ptr) attributes {ad.sorted_runs, ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func @main(%x: tensor<?xf32>) -> tensor<4xi64> {
  %b0 = ad.buffer <arena, bytes = 32>
  %y = ad.launch @k(%x) into(%b0) : (tensor<?xf32>) -> tensor<4xi64>
  return %y : tensor<4xi64>
}

// -----

func.func private @k$sort_tiles(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func private @k$merge_runs(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 32>}
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.sorted_runs, ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xi64> {
  %b0 = ad.buffer <arena, bytes = 32>
  // expected-error @below {{launches a kernel that has ad.sorted_runs, but not the functions next to it; expected @k with $run_sizes, $sort_tiles and $merge_runs}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xi64>
  return %y : tensor<4xi64>
}

// -----

func.func private @k$run_sizes(%x: !llvm.ptr, %y: !llvm.ptr) -> (index, index) {
  %c = arith.constant 1 : index
  return %c, %c : index, index
}
func.func private @k$sort_tiles(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func private @k$merge_runs(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<block, axes = 3, tile = 32>}
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.sorted_runs, ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xi64> {
  %b0 = ad.buffer <arena, bytes = 32>
  // expected-error @below {{expected the launch_config of its kernel to enumerate at most 1 axes of result 0, but got 3}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xi64>
  return %y : tensor<4xi64>
}
