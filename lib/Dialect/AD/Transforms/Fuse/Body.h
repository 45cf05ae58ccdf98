// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes the fusion of a cluster.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_BODY_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_BODY_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// Builds an `ad.fusion` at the last member of the cluster and replaces the uses outside. The members stay,
/// without users outside the cluster. Operations that were copied into the body are added to `copies`.
FusionOp buildFusion(const Cluster &cluster, ClusterGraph &graph, llvm::SetVector<Operation *> &copies);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_BODY_H
