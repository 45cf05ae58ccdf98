// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions in the order that the kernel specifies: chains over ascending indices, or lanes, joined by a
// balanced pairwise tree.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONEMITTER_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONEMITTER_H

#include "PairwiseTree.h"
#include "ReductionChains.h"

namespace mlir::ad::codegen {

class ReductionEmitter : public KernelComponent {
public:
  ReductionEmitter(KernelContext &context, ValueSource &values, LaneValues &laneValues, AccessMaps &maps,
                   ReductionLoops &loops, ReductionChains &chains, PairwiseTree &tree)
      : KernelComponent(context), values(values), laneValues(laneValues), maps(maps), reductionLoops(loops),
        chains(chains), tree(tree) {}

  FailureOr<SmallVector<Value>> reduce(linalg::GenericOp generic, unsigned result,
                                       ArrayRef<Position> positions);
  /// All accumulators of the first position of that result, then those of the next.
  FailureOr<SmallVector<Value>> reduceAll(linalg::GenericOp generic, unsigned result,
                                          ArrayRef<Position> positions);

protected:
  ~ReductionEmitter() = default;

  /// A reduction in lanes: a tree over the results of its chunks.
  FailureOr<Value> reduceChunks(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                const Position &position);

  //===- What a target does in its own way --------------------------------===//

  virtual FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                       const Position &position) {
    return reduceChunks(generic, loops, identity, position);
  }
  /// The sum of one chunk of a reduction in lanes, [lower, upper).
  virtual FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                     Value lower, Value upper, int64_t lanes) = 0;
  virtual FailureOr<SmallVector<Value>> reduceBlocks(linalg::GenericOp generic,
                                                     ArrayRef<SmallVector<Index>> loops,
                                                     ArrayRef<Value> identities,
                                                     ArrayRef<Position> positions);
  /// Joins blocks by the tree of the order; `block` emits the reduction of [lower, upper).
  virtual FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp generic, ArrayRef<Value> identities,
                                                    ArrayRef<Position> positions, BlockCode block,
                                                    int64_t blocksPerLeaf);
  /// One chain over everything, of a reduction with several accumulators.
  virtual FailureOr<SmallVector<Value>> wholeChain(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops, ArrayRef<Value> start,
                                                   ArrayRef<Position> positions);

  ValueSource &values;
  LaneValues &laneValues;
  AccessMaps &maps;
  ReductionLoops &reductionLoops;
  ReductionChains &chains;
  PairwiseTree &tree;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONEMITTER_H
