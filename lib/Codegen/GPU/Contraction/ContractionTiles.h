// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The table of the tile sizes of contractions (gemm) on GPUs, and the choice of a tile.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONTILES_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONTILES_H

#include "ContractionMatch.h"

namespace mlir::ad::device {

/// The tile of a thread block, and its distribution over warps.
struct ContractionTile {
  int64_t m, n;               // of the result
  int64_t k;                  // of a K tile
  int64_t warpsM, warpsN;     // for mma.sync
  int64_t stages;             // K tiles in the pipeline
  int64_t consumerWarpgroups; // for wgmma, after the producer
  int64_t clusterSize = 1;    // blocks along M that share loads of B
  int64_t threads = 0;        // of a block
  int64_t blocksPerSM = 1;    // that a multiprocessor has registers for at the same time
  bool loadsByTma = false;    // K tiles for mma.sync
  /// Rows that the blocks of a cluster compute.
  int64_t clusterM() const { return m * clusterSize; }
  std::string name() const;
};

/// The tiles for the contraction's instruction and operand type, from large to small.
SmallVector<ContractionTile> tilesFor(const Contraction &contraction);

/// The tile with that name. Without a name, the largest tile of which the result has enough.
std::optional<ContractionTile> chooseTile(const Contraction &contraction, StringRef name);

/// Whether a thread has so many accumulators of the tile, for mma.sync, that it has no registers for another
/// set.
bool hasLargeWarps(const ContractionTile &tile);

/// The number of tiles of a result whose axis `mAxis` is M, in whole clusters. A dynamic size counts as one
/// tile.
int64_t countTiles(ArrayRef<int64_t> shape, int64_t mAxis, const ContractionTile &tile);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONTILES_H
