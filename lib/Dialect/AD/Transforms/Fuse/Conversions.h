// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which conversions of element types the kernels that read them compute, so that no kernel only converts.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_CONVERSIONS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_CONVERSIONS_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// A conversion between types of numbers, or from booleans, element by element.
bool isConversion(Operation *op);

/// Whether every kernel that uses the result converts the elements that it reads: nothing else could store
/// the result, and the kernels move fewer bytes than with a kernel of the conversion. A contraction with more
/// rows than `maxConvertedRows` reads converted operands; -1: it may pack the converted elements once for all
/// rows.
bool isConvertedByUsers(Operation *op, const ClusterGraph &graph, int64_t maxConvertedRows);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_CONVERSIONS_H
