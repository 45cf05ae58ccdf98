// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions in the order that the kernel specifies: chains over ascending indices, joined by a balanced
// pairwise tree.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONEMITTER_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONEMITTER_H

#include "../KernelComponent.h"

#include <map>

namespace mlir::ad::codegen {

class ReductionEmitter : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  FailureOr<SmallVector<Value>> reduce(linalg::GenericOp generic, unsigned result,
                                       ArrayRef<Position> positions);
  /// All accumulators of the first position of that result, then those of the next.
  FailureOr<SmallVector<Value>> reduceAll(linalg::GenericOp generic, unsigned result,
                                          ArrayRef<Position> positions);
  FailureOr<SmallVector<Value>> reduceBlocks(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                             ArrayRef<Value> identities, ArrayRef<Position> positions);
  /// A reduction in lanes: a tree over the results of its chunks.
  FailureOr<Value> reduceChunks(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                const Position &position);
  FailureOr<SmallVector<Value>> chain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                      ArrayRef<Value> start, Value lower, Value upper);
  FailureOr<SmallVector<Value>> plainChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                           ArrayRef<Value> start, Value lower, Value upper);
  LogicalResult chainStep(linalg::GenericOp generic, ArrayRef<Index> loops, Value k,
                          MutableArrayRef<Value> accumulators);
  Value reducedTotal(linalg::GenericOp generic);
  class PairwiseStack;
  FailureOr<SmallVector<Value>> pairwiseTree(Value total, int64_t length, ArrayRef<Value> identities,
                                             Operation *join, BlockCode block);
  void setReductionIndex(linalg::GenericOp generic, SmallVectorImpl<Index> &loops, const Index &linear);
  Value joinValues(Operation *join, Value lhs, Value rhs);
  bool usesLanes(linalg::GenericOp generic);
  Value loopSize(linalg::GenericOp generic, unsigned dim);

private:
  std::map<std::pair<const void *, int64_t>, SmallVector<Value>> unusedStacks; // of PairwiseStack
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONEMITTER_H
