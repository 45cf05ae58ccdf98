// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Horizontal fusion.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_SIBLINGS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_SIBLINGS_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// Joins clusters that do not depend on each other and run over equal iteration spaces in the same way, if
/// the saved launch or the saved reads are worth it.
void joinSiblings(ClusterGraph &graph);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_SIBLINGS_H
