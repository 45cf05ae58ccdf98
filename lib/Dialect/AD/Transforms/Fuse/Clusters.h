// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operations of one block, some of them in clusters that will become fusions. Answers the questions
// of fusion: which operations use a value, and whether one cluster must run before another.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_CLUSTERS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_CLUSTERS_H

#include "KernelClassQuery.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "llvm/ADT/SetVector.h"
#include <memory>

namespace mlir::ad::fuse {

/// In which loops of a kernel a value is computed (Halide's compute_at).
enum class ComputeAt {
  point,    ///< once for every point of the iteration space
  row,      ///< once for every row: all points that differ in the last axis only
  reduction ///< inside a reduction, at points of the reduction's operand
};

/// Operations that become one kernel.
struct Cluster {
  llvm::SmallSetVector<Operation *, 8> members;
  Value space;          ///< a value that has the shape of the iteration space
  bool hasRows = false; ///< some members are computed once per row
  bool reduces = false;
  bool hasSpaces = false;         ///< several tensors of any shapes are reduced, each to one number
  bool hasChains = false;         ///< it has reductions without an order, so that none with an order may join
  bool usesMma = false;           ///< it has a contraction with a fixed instruction (InstructionAttr)
  OrderAttr order;                ///< the order that its reductions share
  unsigned first = ~0u, last = 0; ///< positions of members in the block
  /// Uses of numbers that fill a tensor; the kernel writes the tensors too.
  SmallVector<OpOperand *> fills;
};

/// A cluster, or one operation that stays in the host program.
struct Node {
  Cluster *cluster = nullptr;
  Operation *op = nullptr;
  const void *key() const { return cluster ? static_cast<const void *>(cluster) : op; }
};

class ClusterGraph {
public:
  /// `target`: whose kernel classes are asked; none are without one.
  ClusterGraph(Block &block, std::optional<TargetKind> target);

  Block &getBlock() const { return block; }
  Cluster *clusterOf(Operation *op) const { return owners.lookup(op); }
  ComputeAt computedAt(Operation *op) const { return computeAts.lookup(op); }
  unsigned positionOf(Operation *op) const { return positions.lookup(op); }
  void setComputedAt(Operation *op, ComputeAt at) { computeAts[op] = at; }

  Cluster &create(Operation *op, ComputeAt at);
  void add(Operation *op, Cluster &cluster, ComputeAt at);
  /// Moves the members of `from` into `to`.
  void merge(Cluster &to, Cluster &from);
  /// The members belong to no cluster any more.
  void dissolve(Cluster &cluster);

  /// Operations that are copied into every cluster that uses them and have no other place.
  void copyIntoUsers(Operation *op) { copied.insert(op); }
  bool isCopied(Operation *op) const { return copied.contains(op); }
  const llvm::SetVector<Operation *> &getCopied() const { return copied; }

  /// A use of a value; `through` is the copied operation between, nearest to the value, or null.
  struct Use {
    OpOperand *operand;
    Operation *through;
  };
  /// The uses by operations of this block that are not copied, and through those that are.
  SmallVector<Use> usesOf(Value value) const;
  bool hasUsesOutside(Value value, const Cluster *cluster) const;
  /// In unreachable code, values may depend on themselves: such operations are not fused.
  bool isUsedBefore(Operation *op) const;

  /// Whether an operation that depends on `from` must run before `to`. True also if the search exceeds its
  /// limit.
  bool reaches(ArrayRef<Operation *> from, const Cluster &to) const;
  bool reaches(const Cluster &from, const Cluster &to) const;

  /// Everything in the block in an order in which it can run, close to the written order.
  SmallVector<Node> order() const;
  /// Nodes that must run before this one.
  SmallVector<Node> predecessors(Node node) const;

  const KernelClassQuery classes;
  SmallVector<std::unique_ptr<Cluster>> clusters; ///< emptied ones stay
  SizeAnalysis sizes;

private:
  void extendSpan(const Cluster &cluster);
  unsigned lowestFrom(unsigned position) const;
  Node nodeOf(Operation *op) const;
  void addPredecessors(Operation *op, bool inCluster, SmallVectorImpl<Node> &nodes) const;

  Block &block;
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::DenseMap<Operation *, Cluster *> owners;
  llvm::DenseMap<Operation *, ComputeAt> computeAts;
  // For each position the first member of all clusters that span it.
  SmallVector<unsigned> spanStart;
  llvm::SetVector<Operation *> copied;
  // The operations with effects, which keep their order; those of them that guard every operation after them.
  SmallVector<Operation *> effects, guards;
  llvm::DenseMap<Operation *, unsigned> effectNumber;
};

/// One operation with its nested ones: all operands that come from outside of it.
void forEachOutsideOperand(Operation *op, llvm::function_ref<void(Value)> callback);

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_CLUSTERS_H
