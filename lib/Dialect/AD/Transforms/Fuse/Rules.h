// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What may share a kernel, and what that gains.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_RULES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_RULES_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// Kernels over at most this many points count as small: to launch one costs about as much as to run it.
constexpr int64_t kSmallSpace = 16384;

/// What the code of a kernel may hold at most, see `weightOf`: the time to compile one block of straight code
/// grows faster than its length.
constexpr int64_t kWeightLimit = 160;
/// Roughly the instructions of an operation, in tens.
int64_t weightOf(const Cluster &cluster);

bool isElementwise(Operation *op);
/// Reduces exactly the last axis.
bool isRowReduction(Operation *op);
/// Sums into every point of its result: dot, gemm, and reductions of other axes.
bool isPointReduction(Operation *op);
/// One value, or one value repeated.
bool isSmallConstant(Operation *op);
/// Notes what is known of the sizes of a broadcast, before fusions stand between it and where they come from.
void markSameSizes(BroadcastOp op);
/// Moves data only, and costs nothing where its result is read: worth a copy in every kernel that uses it.
bool isFree(Operation *op);
/// May a copy of a free operation stand in a kernel with this operation?
bool takesFree(Operation *user);

/// Whether everything that uses the operation can have a copy of it.
bool usersTakeCopies(Operation *op, const ClusterGraph &graph);

/// How a producer would stand in a cluster of its users.
struct Fit {
  Level level = Level::full;
  bool opensRows = false; ///< the cluster's points become the rows of a larger space
  StringRef refusal;      ///< why it cannot; empty when it can
};

/// Whether `op` may join `cluster`, by shapes, access and order. Says nothing about other users.
Fit fitInto(Operation *op, const Cluster &cluster, ClusterGraph &graph);

/// The iteration space, reductions and order of a cluster that holds only `op`.
void initialize(Cluster &cluster, Operation *op);
/// Updates the cluster for a member that fits.
void accept(Operation *op, const Fit &fit, Cluster &cluster, ClusterGraph &graph);

/// Whether two clusters that do not depend on each other run over one iteration space in one way.
bool haveSameSpace(const Cluster &a, const Cluster &b, ClusterGraph &graph);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_RULES_H
