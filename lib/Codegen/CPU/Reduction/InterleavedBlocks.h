// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Steps of several blocks of a summation order in one loop, which hides the latency of their chains.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDBLOCKS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDBLOCKS_H

#include "../../Kernel/Reduction/ChainSteps.h"
#include "../../Kernel/Reduction/PairwiseTree.h"
#include "../../Kernel/Reduction/ReductionChains.h"
#include "../../Kernel/Values/Hoisting.h"
#include "../CPUComponent.h"
#include "../Contraction/TransposedOperands.h"
#include "../Packing/PackedPanels.h"
#include "PartialResultTrees.h"

namespace mlir::ad::cpu {

class InterleavedBlocks : public CPUComponent {
public:
  InterleavedBlocks(CPUContext &context, Hoisting &hoisting, ChainSteps &chainSteps,
                    ReductionChains &reductionChains, PairwiseTree &tree, PartialResultTrees &partialTrees,
                    TransposedOperands &transposedOperands, PackedPanels &panels)
      : CPUComponent(context), hoisting(hoisting), chainSteps(chainSteps), reductionChains(reductionChains),
        tree(tree), partialTrees(partialTrees), transposedOperands(transposedOperands), panels(panels) {}

  int64_t interleavedBlocks(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  FailureOr<SmallVector<Value>> interleavedGroup(linalg::GenericOp generic,
                                                 ArrayRef<SmallVector<Index>> loops,
                                                 ArrayRef<Value> identities, Value lower, Value upper,
                                                 int64_t blocks);

private:
  FailureOr<SmallVector<Value>> interleavedChains(linalg::GenericOp generic,
                                                  ArrayRef<SmallVector<Index>> loops, ArrayRef<Value> start,
                                                  Value lower, int64_t blocks);
  SmallVector<Value> joinBlocks(Operation *join, SmallVector<Value> values, size_t results);

  Hoisting &hoisting;
  ChainSteps &chainSteps;
  ReductionChains &reductionChains;
  PairwiseTree &tree;
  PartialResultTrees &partialTrees;
  TransposedOperands &transposedOperands;
  PackedPanels &panels;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDBLOCKS_H
