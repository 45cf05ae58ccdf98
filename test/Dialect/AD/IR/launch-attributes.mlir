// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --verify-roundtrip | FileCheck %s

// Defaults are not printed, in whichever order parameters were written.
// CHECK: @threads() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1>}
func.func private @threads() attributes {ad.launch_config = #ad.launch_config<thread, threads_per_block = 256, result = 0, axes = 1, elements = 1>}

// CHECK: @vectors() attributes {ad.launch_config = #ad.launch_config<thread, result = 2, axes = 3, elements = 4>}
func.func private @vectors() attributes {ad.launch_config = #ad.launch_config<thread, result = 2, axes = 3, elements = 4>}

// CHECK: @groups() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 16>}
func.func private @groups() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 16>}

// CHECK: @rows() attributes {ad.launch_config = #ad.launch_config<warp, axes = 0>}
func.func private @rows() attributes {ad.launch_config = #ad.launch_config<warp, axes = 0>}

// CHECK: @limits() attributes {ad.launch_config = #ad.launch_config<block, axes = 1, threads_per_block = 1024, dynamic_shared_bytes = 232448>}
func.func private @limits() attributes {ad.launch_config = #ad.launch_config<block, axes = 1, threads_per_block = 1024, dynamic_shared_bytes = 232448>}

// CHECK: @tiles() attributes {ad.launch_config = #ad.launch_config<block, axes = 3, cluster_size = 2, tile = 256x128>}
func.func private @tiles() attributes {ad.launch_config = #ad.launch_config<block, axes = 3, cluster_size = 2, tile = 256x128>}

// CHECK: @persistent() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 192, persistent_blocks = 1,
// CHECK-SAME: threads_per_block = 384, dynamic_shared_bytes = 213056,
// CHECK-SAME: tensor_maps = [<operand = 0, box = 1x128x64, swizzle = 128>, <operand = 1, box = 256, tf32 = true>]>}
func.func private @persistent() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 192, persistent_blocks = 1,
    threads_per_block = 384, dynamic_shared_bytes = 213056,
    tensor_maps = [#ad.tensor_map<operand = 0, box = 1x128x64, swizzle = 128>, <operand = 1, box = 256, tf32 = true>]>}

// CHECK: @kernel() attributes {ad.tensor_maps = [#ad.tensor_map<operand = 0, box = 8x8x8x8x8, swizzle = 32>]}
func.func private @kernel() attributes {ad.tensor_maps = [#ad.tensor_map<operand = 0, box = 8x8x8x8x8, swizzle = 32>]}
