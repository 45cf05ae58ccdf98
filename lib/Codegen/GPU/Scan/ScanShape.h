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
/// Steps and blocks of the order that a warp transposes in shared memory.
constexpr int64_t kStepsOfSquare = kWarpThreads;
/// Steps of a column that a thread loads before it combines the first one, and totals.
constexpr int64_t kStepsAtOnce = 32;
/// Thread blocks of undivided running reductions that a multiprocessor should have.
constexpr int64_t kMinBlocksPerSM = 2;
/// Thread blocks that a multiprocessor should have registers for.
constexpr int64_t kMinBlocksOfRows = 4, kMinBlocksOfColumns = 3;
/// Thread blocks that share a multiprocessor where tiles are divided over the grid. Each of them starts with
/// the totals of all tiles before its own, so that more of them would be of no use.
constexpr int64_t kPersistentBlocks = 8;

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANSHAPE_H
