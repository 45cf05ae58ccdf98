// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Fusion along the layers of the dependence graph.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_LAYERS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_LAYERS_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// The clusters of the system whose text forms tests compare with. Only for tests: it looks at every
/// operation again for each contraction and reduction.
void clusterByLayers(ClusterGraph &graph);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_LAYERS_H
