// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Zeros around the input of a convolution that its kernel makes while it reads the input.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_PADDINGS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_PADDINGS_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// Whether the kernels of all users are convolutions that read the input of this padding in place. Without a
/// kernel of its own, a padded copy of the input is neither written nor read.
bool isPaddedByUsers(Operation *op, const ClusterGraph &graph);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_PADDINGS_H
