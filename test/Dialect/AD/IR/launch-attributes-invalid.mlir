// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @place() {
  // expected-error @+1 {{'func.return' op expected 'ad.launch_config' on a function only}}
  return {ad.launch_config = #ad.launch_config<thread, axes = 1>}
}

// -----

// expected-error @+1 {{'func.func' op expected 'ad.launch_config' to be #ad.launch_config<LEVEL, …>, such as #ad.launch_config<thread, axes = 1>, but got 4 : i64}}
func.func private @not_a_config() attributes {ad.launch_config = 4 : i64}

// -----

// expected-error @+1 {{'func.func' op expected 'ad.tensor_maps' to be an array of #ad.tensor_map<…>, but got [1]}}
func.func private @no_maps() attributes {ad.tensor_maps = [1]}

// -----

// expected-error @+1 {{expected thread, warp or block, but got 'grid'}}
func.func private @level() attributes {ad.launch_config = #ad.launch_config<grid, axes = 1>}

// -----

// expected-error @+1 {{struct is missing required parameter: axes}}
func.func private @no_axes() attributes {ad.launch_config = #ad.launch_config<thread, elements = 4>}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: warps}}
func.func private @unknown() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, warps = 4>}

// -----

// expected-error @+1 {{expected result to be at least 0, but got -1}}
func.func private @negative_result() attributes {ad.launch_config = #ad.launch_config<thread, result = -1, axes = 1>}

// -----

// expected-error @+1 {{expected axes to be at least 0, but got -1}}
func.func private @negative_axes() attributes {ad.launch_config = #ad.launch_config<thread, axes = -1>}

// -----

// expected-error @+1 {{expected grid_size to be at least 0, but got -3}}
func.func private @negative_grid() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = -3>}

// -----

// expected-error @+1 {{expected persistent_blocks to be at least 0, but got -1}}
func.func private @negative_persistent() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 3, persistent_blocks = -1>}

// -----

// expected-error @+1 {{expected a tile of at most 1 axes, as the grid enumerates, but got 2}}
func.func private @tile_rank() attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64x64>}

// -----

// expected-error @+1 {{expected each extent of the tile to be at least 1, but got 0}}
func.func private @empty_tile() attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 0>}

// -----

// expected-error @+1 {{expected threads_per_block to be a multiple of 32 up to 1024, but got 48}}
func.func private @half_a_warp() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_block = 48>}

// -----

// expected-error @+1 {{expected threads_per_block to be a multiple of 32 up to 1024, but got 0}}
func.func private @no_threads() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_block = 0>}

// -----

// expected-error @+1 {{expected threads_per_block to be a multiple of 32 up to 1024, but got 1056}}
func.func private @many_threads() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_block = 1056>}

// -----

// expected-error @+1 {{expected 0 to 232448 dynamic_shared_bytes, but got -1}}
func.func private @negative_shared() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, dynamic_shared_bytes = -1>}

// -----

// expected-error @+1 {{expected 0 to 232448 dynamic_shared_bytes, but got 232449}}
func.func private @much_shared() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, dynamic_shared_bytes = 232449>}

// -----

// expected-error @+1 {{expected a cluster_size of 1 to 8, but got 0}}
func.func private @no_cluster() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 2, cluster_size = 0>}

// -----

// expected-error @+1 {{expected a cluster_size of 1 to 8, but got 16}}
func.func private @large_cluster() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 16, cluster_size = 16>}

// -----

// expected-error @+1 {{expected a grid_size or a tile with persistent_blocks, but got neither}}
func.func private @uncounted_persistent() attributes {ad.launch_config = #ad.launch_config<block, axes = 1, persistent_blocks = 2>}

// -----

// expected-error @+1 {{expected a grid_size or a tile with cluster_size, but got neither}}
func.func private @uncounted_cluster() attributes {ad.launch_config = #ad.launch_config<block, axes = 1, cluster_size = 2>}

// -----

// expected-error @+1 {{expected level block with a grid_size or a tile, but got warp}}
func.func private @level_of_grid() attributes {ad.launch_config = #ad.launch_config<warp, axes = 0, grid_size = 4>}

// -----

// expected-error @+1 {{expected level block with a grid_size or a tile, but got thread}}
func.func private @level_of_tile() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, tile = 4>}

// -----

// expected-error @+1 {{expected either a grid_size or a tile, but got both}}
func.func private @grid_and_tile() attributes {ad.launch_config = #ad.launch_config<block, axes = 1, grid_size = 4, tile = 64>}

// -----

// expected-error @+1 {{expected 0 axes with a grid_size, but got 2}}
func.func private @grid_and_axes() attributes {ad.launch_config = #ad.launch_config<block, axes = 2, grid_size = 4>}

// -----

// expected-error @+1 {{expected a grid_size that is a multiple of cluster_size, but got 3 and 2}}
func.func private @half_a_cluster() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 3, cluster_size = 2>}

// -----

// expected-error @+1 {{expected persistent_blocks to have at most 2048 threads together, but got 3 of 1024}}
func.func private @resident_threads() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 8, persistent_blocks = 3, threads_per_block = 1024>}

// -----

// expected-error @+1 {{expected persistent_blocks to have at most 232448 dynamic_shared_bytes together, but got 2 of 116225}}
func.func private @resident_bytes() attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 8, persistent_blocks = 2, dynamic_shared_bytes = 116225>}

// -----

// expected-error @+1 {{expected elements to be at least 1, but got 0}}
func.func private @no_elements() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, elements = 0>}

// -----

// expected-error @+1 {{expected elements to be 1 with a grid_size or a tile, but got 4}}
func.func private @elements_of_tiles() attributes {ad.launch_config = #ad.launch_config<block, axes = 1, tile = 64, elements = 4>}

// -----

// expected-error @+1 {{expected threads_per_element to be a power of two up to 32, but got 0}}
func.func private @no_threads_of_element() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 0>}

// -----

// expected-error @+1 {{expected threads_per_element to be a power of two up to 32, but got 3}}
func.func private @three_threads() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 3>}

// -----

// expected-error @+1 {{expected threads_per_element to be a power of two up to 32, but got 64}}
func.func private @two_warps() attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 64>}

// -----

// expected-error @+1 {{expected level thread with threads_per_element, but got warp}}
func.func private @group_of_warps() attributes {ad.launch_config = #ad.launch_config<warp, axes = 1, threads_per_element = 16>}

// -----

// expected-error @+1 {{expected operand to be at least 0, but got -1}}
func.func private @operand() attributes {ad.tensor_maps = [#ad.tensor_map<operand = -1, box = 8>]}

// -----

// expected-error @+1 {{expected a box of 1 to 5 axes, but got 6}}
func.func private @rank() attributes {ad.tensor_maps = [#ad.tensor_map<operand = 0, box = 1x1x1x1x1x8>]}

// -----

// expected-error @+1 {{expected 1 to 256 elements along each axis of the box, but got 0}}
func.func private @empty() attributes {ad.tensor_maps = [#ad.tensor_map<operand = 0, box = 8x0>]}

// -----

// expected-error @+1 {{expected 1 to 256 elements along each axis of the box, but got 257}}
func.func private @extent() attributes {ad.tensor_maps = [#ad.tensor_map<operand = 0, box = 257x8>]}

// -----

// expected-error @+1 {{expected a swizzle of 0, 32, 64 or 128 bytes, but got 16}}
func.func private @swizzle() attributes {ad.tensor_maps = [#ad.tensor_map<operand = 0, box = 8x8, swizzle = 16>]}
