// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The tiles in which contractions on GPUs go through their results, as data.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONTILES_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONTILES_H

#include "ContractionMatch.h"

namespace mlir::ad::device {

/// How the warps of a block share a tile.
struct ContractionTile {
  int64_t rows, columns;          // of the result
  int64_t depth;                  // of what lies in shared memory at once
  int64_t warpsDown, warpsAcross; // of tensor cores
  int64_t stages;                 // pieces of that depth that are copied ahead
  int64_t warpgroups;             // that multiply, beside the one that copies
  int64_t cluster = 1;            // blocks that take tiles below each other and share the columns' operand
  /// What the blocks of a cluster take together.
  int64_t clusterRows() const { return rows * cluster; }
  std::string name() const;
};

/// Those that the contraction's units have for its operands' type, from large to small.
SmallVector<ContractionTile> tilesFor(const Contraction &contraction);

/// The tile of that name, or without a name the largest one of which the result has enough.
std::optional<ContractionTile> chooseTile(const Contraction &contraction, StringRef name);

/// How many tiles a result has in whole clusters; of a size that only the run knows there is one.
int64_t tilesOf(ArrayRef<int64_t> shape, const ContractionTile &tile);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONTILES_H
