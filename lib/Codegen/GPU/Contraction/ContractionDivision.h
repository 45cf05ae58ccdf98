// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// K of contractions with few tiles, cut at nodes of the written order (decision 0050): the blocks of one
// kernel compute a tile of the nodes each, a second kernel joins the nodes and computes the epilogue.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONDIVISION_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONDIVISION_H

#include "../Reduction/Division.h"
#include "ContractionTiles.h"

namespace mlir::ad::device {

/// Whether the instruction of the contraction sums K in chains, of which one kernel can compute only one.
bool mustDivide(const Contraction &contraction);

/// The division of the contraction's K; none where the result has tiles for every multiprocessor, or the
/// order has no nodes that a block can sum.
std::optional<Division> divideContraction(KernelOp kernel, const Contraction &contraction,
                                          const ContractionTile &tile);

/// The nodes of each element of the result on a large chip; 1 if the contraction is not divided.
int64_t nodeCount(const Contraction &contraction, const ContractionTile &tile);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONDIVISION_H
