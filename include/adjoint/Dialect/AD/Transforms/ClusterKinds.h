// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a cluster of operations is, by its operations alone: the same on all targets.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_CLUSTERKINDS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_CLUSTERKINDS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// Elementwise operations, broadcasts and constants only; reshapes that add or drop axes of size 1.
bool isElementwiseCluster(FusionOp fusion);

/// The same and reductions over the last axis, such as softmax and the norms.
bool isRowCluster(FusionOp fusion);

/// The number of rows that a row cluster reduces, and their length; `ShapedType::kDynamic` if they are open,
/// 0 without reductions.
std::pair<int64_t, int64_t> reducedRows(FusionOp fusion);

/// A row cluster each of whose results has one element per row, and whose reductions read no other reduction.
bool reducesRowsOnce(FusionOp fusion);

/// A contraction (`ad.dot`, `ad.gemm`) with what is fused to it.
bool isContractionCluster(FusionOp fusion);

/// One contraction as the only reduction; all else is elementwise, and all results have its shape.
bool isSingleContraction(FusionOp fusion);

/// One transposition that moves the last axis, and nothing else.
bool isTransposition(FusionOp fusion);

/// One running reduction, and nothing else.
bool isScan(FusionOp fusion);

/// An operation that updates elements at computed indices, and views or constants that it starts from.
bool isScatter(FusionOp fusion);

/// One `ad.argsort` along the last axis, and nothing else.
bool isSort(FusionOp fusion);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_CLUSTERKINDS_H
