// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions whose tree spans the grid (decision 0018). The tree of the order is cut at nodes that are the
// sum of 2ᵏ consecutive leaves each: one kernel writes these nodes to memory, a second one joins them and
// computes the rest of the kernel. Both follow the tree, so the bits are those of the undivided kernel for
// every k; the host chooses k by the sizes and the number of multiprocessors.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_PARTIALTREE_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_PARTIALTREE_H

#include "../Generic/GPUComponent.h"
#include "Division.h"

namespace mlir::ad::device {

class PartialTree : public GPUComponent {
public:
  using GPUComponent::GPUComponent;

  /// A reduction, cut into nodes of its tree.
  struct Nodes {
    Value length, total, count;  // elements of a node, of the reduction, and the number of nodes
    Value number;                // of the node that is being emitted
    SmallVector<Buffer> buffers; // [number, position in the result], one for each accumulator
  };

  /// The arguments of both kernels: the memory of the nodes, and the leaves of a node.
  void bind(ValueRange arguments);
  Value getMemory() const { return nodeMemory; }
  /// Lays out the nodes of all reductions in `memory`, null where only their sizes count; returns the bytes.
  Value layOutNodes(Value memory, Value leaves);
  /// In the memory of the arguments.
  void layOutNodes() { layOutNodes(nodeMemory, leavesOfNode); }

  /// The first kernel: contiguous threads compute contiguous results of one node.
  LogicalResult emitNodes();
  /// The second kernel: results from the nodes.
  LogicalResult emitJoin();

  /// The reduction or its part in this kernel, if it is divided.
  bool isDivided(linalg::GenericOp reduction) const { return nodes.count(reduction); }
  FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp reduction, ArrayRef<Value> identities,
                                            const Position &position, BlockCode block);
  FailureOr<SmallVector<Value>> wholeChain(linalg::GenericOp reduction, ArrayRef<Index> loops,
                                           ArrayRef<Value> start, const Position &position);

  Division division; // of the function that is being emitted; without reductions, it computes all
  DenseMap<Operation *, Nodes> nodes;

private:
  LogicalResult emitNode(linalg::GenericOp reduction, Value number, ValueRange sizes);
  SmallVector<Value> paddingNodes(linalg::GenericOp reduction, ArrayRef<Value> identities);
  SmallVector<Value> joinParts(linalg::GenericOp reduction, ValueRange left, ValueRange right);
  SmallVector<Value> loadNode(linalg::GenericOp reduction, const Position &position, Value number,
                              ValueRange padding);
  SmallVector<Value> joinWarp(linalg::GenericOp reduction, SmallVector<Value> parts);
  FailureOr<SmallVector<Value>> joinNodes(linalg::GenericOp reduction, ArrayRef<Value> identities,
                                          const Position &position);
  FailureOr<SmallVector<Value>> joinGroup(linalg::GenericOp reduction, const Position &position, Value lower,
                                          ValueRange padding);

  Value nodeMemory, leavesOfNode;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_PARTIALTREE_H
