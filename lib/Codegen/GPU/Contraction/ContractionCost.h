// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How long a contraction of static sizes takes with a tile, for the choice between tiles: the model of times
// of the cost sheet (docs/gpu-cost-sheet.md) in a few formulas, before there is code.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOST_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOST_H

#include "ContractionTiles.h"

namespace mlir::ad::device {

/// Clocks of the busiest multiprocessor of a large chip. For FMA and `mma.sync`, and static sizes.
double estimateClocks(const Contraction &contraction, const ContractionTile &tile);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOST_H
