// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A loop that carries a 16-bit copy of a parameter starts with a cast of the parameter, and often with states
// of an optimizer that are zero. One kernel writes the first values of all of them.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_FILLS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_FILLS_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// Gives clusters that only convert the tensors of one number that the same loops start with. Operations that
/// are used no longer are added to `unused`.
void joinFills(ClusterGraph &graph, llvm::SetVector<Operation *> &unused);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_FILLS_H
