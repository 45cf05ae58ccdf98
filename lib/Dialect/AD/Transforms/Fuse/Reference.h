// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The clustering of the system that the text forms come from.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_REFERENCE_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_REFERENCE_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// For tests that compare with what that system recorded: it looks at every operation again for each
/// contraction and reduction.
void clusterAsReference(ClusterGraph &graph);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_REFERENCE_H
