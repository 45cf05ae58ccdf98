// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operations may share a kernel.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_RULES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_RULES_H

#include "Clusters.h"

namespace mlir::ad::fuse {

/// Iteration spaces of at most this many points count as small: the launch costs about as much as the work.
constexpr int64_t kSmallSpace = 16384;

/// Limit of `weightOf` for the code of one kernel: the time to compile one block of straight code grows
/// faster than its length.
constexpr int64_t kWeightLimit = 160;
/// Pointer arguments of one kernel: more would spill the registers that hold them.
constexpr unsigned kResultLimit = 24;
/// Roughly the instructions of all operations, in tens.
int64_t weightOf(const Cluster &cluster);

/// A contraction whose tensor core instruction no kernel may change.
bool hasFixedInstruction(Operation *op);
/// Accumulates into each element of its result: contractions, and column reductions (over another axis than
/// the last).
bool isContractionLike(Operation *op);
/// One value, or one value repeated.
bool isSmallConstant(Operation *op);
/// A free view that is worth a copy in every kernel that uses it.
bool isCopyableView(Operation *op);
/// Whether a kernel with this operation may have copies of free views.
bool mayReadThroughViews(Operation *user);

/// The group of its members (FuseGroups.h); null for none.
Attribute groupOf(const Cluster &cluster);
/// Whether something reads the result that is not in the operation's group.
bool isReadByOtherGroup(Operation *op, const ClusterGraph &graph);
/// Whether everything that uses the operation can have a copy of it.
bool usersTakeCopies(Operation *op, const ClusterGraph &graph);

/// How a producer would join a cluster of its users.
struct Fit {
  ComputeAt at = ComputeAt::point;
  bool opensRows = false; ///< the cluster's points become the rows of a larger space
  StringRef refusal;      ///< why it cannot; empty when it can
};

/// Whether `op` may join `cluster`, by its group, shapes, access and order, by the kernel classes and by the
/// policy of another compiler. Says nothing about other users.
Fit fitInto(Operation *op, const Cluster &cluster, ClusterGraph &graph);

/// The iteration space, reductions and order of a cluster that holds only `op`.
void initialize(Cluster &cluster, Operation *op);
/// Updates the cluster for a member that fits.
void accept(Operation *op, const Fit &fit, Cluster &cluster, ClusterGraph &graph);

/// Whether two clusters that do not depend on each other run over one iteration space in one way.
bool haveSameSpace(const Cluster &a, const Cluster &b, ClusterGraph &graph);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_RULES_H
