// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions in nested chains that thread blocks compute tile by tile (decision 0046).

#ifndef ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANMATCH_H
#define ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANMATCH_H

#include "../Reduction/Division.h"
#include "ScanShape.h"

namespace mlir::ad::device {

/// The only operation that computes the only result of a kernel.
struct TiledScan {
  linalg::GenericOp op;
  int64_t block, blocksOfTile; // of the order
  /// Blocks of the order that a thread block has: those of a tile, or of a part of one where chains are few.
  int64_t blocksOfPart;
  /// Chains of a bundle: their steps alternate in memory, and squares in shared memory hold them. One where
  /// memory is contiguous along the scanned axis; 0 without squares, where adjacent threads have adjacent
  /// chains.
  int64_t columns;
  bool readsBefore; // the result of a step is made from the accumulator before it
  Value combined;   // with the accumulator, in each step

  bool hasSquares() const { return columns > 0; }
  /// Blocks of the order, each of `columns` chains, that a warp has in its square: a power of two, so that
  /// tiles are whole squares.
  int64_t runsOfSquare() const { return llvm::bit_floor(uint64_t(kWarpThreads / columns)); }
  bool dividesTiles() const { return blocksOfPart < blocksOfTile; }
  int64_t threadsPerBlock() const;
  /// Blocks of the order that a thread block computes at a time, each in all chains of a bundle or of a warp.
  int64_t runsOfBlock() const;
  int64_t elementBytes() const; // of an accumulator
  /// Of the squares and totals of a thread block, in shared memory.
  int64_t bytesOfSquare() const;
  int64_t countOfTotals() const;
  /// Of the tiles of a group of chains, where thread blocks have parts of tiles.
  int64_t countOfTileTotals() const;
};

/// Nothing for other kernels, with the reason.
std::optional<TiledScan> matchTiledScan(KernelOp kernel, std::string &reason);

/// Adjacent bundles that a thread block computes together, if the length of their chains is known; else the
/// fewest.
int64_t bundlesPerBlock(const TiledScan &scan);

/// The division of the tiles of few long chains over the grid, if it can be faster.
std::optional<Division> divideScan(const TiledScan &scan);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANMATCH_H
