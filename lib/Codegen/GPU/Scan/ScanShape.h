// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes of the thread blocks of running reductions.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANSHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANSHAPE_H

#include "adjoint/Codegen/Kernel/Grid.h"

namespace mlir::ad::device {

/// Threads of a block, each of which has a block of the order: so many blocks has a tile of the canonical
/// order.
constexpr int64_t kThreadsOfRows = 128;
/// Threads of a block where the squares have several columns, and how many they have at most: adjacent
/// threads of more columns have runs of memory that are long enough.
constexpr int64_t kThreadsOfColumns = 256, kMaxColumns = 8;
/// Steps of the blocks that a warp transposes in shared memory.
constexpr int64_t kStepsOfSquare = kWarpThreads;
/// The shared memory of a thread block.
constexpr int64_t kSharedBytes = 48 << 10;
/// Steps of a column that a thread loads before it combines the first one, and totals.
constexpr int64_t kStepsAtOnce = 32;
/// Thread blocks of undivided running reductions that a multiprocessor should have.
constexpr int64_t kMinBlocksPerSM = 2;
/// Turns of a thread block over the blocks of its chains, from which on one tile is divided, too.
constexpr int64_t kMinTurns = 2;
/// Thread blocks that a multiprocessor should have registers for.
constexpr int64_t kMinBlocksOfRows = 4, kMinBlocksOfSquares = 1, kMinBlocksOfColumns = 3;
/// Thread blocks that share a multiprocessor where tiles are divided over the grid. Each of them starts with
/// the totals of all tiles before its own, so that more of them would be of no use.
constexpr int64_t kPersistentBlocks = 8;

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANSHAPE_H
