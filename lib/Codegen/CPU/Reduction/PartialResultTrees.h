// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Trees of an order that are divided into partial results.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALRESULTTREES_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALRESULTTREES_H

#include "../../Kernel/Reduction/PairwiseTree.h"
#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../Contraction/ProductGroups.h"

namespace mlir::ad::cpu {

/// With more results there are units enough.
inline constexpr int64_t kMaxResults = 1 << 14;

/// Whether it is a convolution whose result is smaller than both operands, such as the gradient of a filter:
/// its sums are long, and every part of the result reads all of an operand.
bool isDeepConvolution(linalg::GenericOp generic);

/// The product of the sizes that are known and not 0, as far as kMaxResults + 1.
int64_t knownElements(ArrayRef<int64_t> shape);

class PartialResultTrees : public CPUComponent {
public:
  PartialResultTrees(CPUContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess,
                     ReductionLoops &reductionLoops, PairwiseTree &tree, ProductGroups &productGroups)
      : CPUComponent(context), laneValues(laneValues), memoryAccess(memoryAccess),
        reductionLoops(reductionLoops), tree(tree), productGroups(productGroups) {}

  bool isDivisible(linalg::GenericOp generic);
  int64_t blocksOfPartial(linalg::GenericOp generic);
  FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp generic, ArrayRef<Value> identities,
                                            ArrayRef<Position> positions, BlockCode block,
                                            int64_t blocksPerLeaf);
  Value addressOfPartial(const PartialResults &partial, const Buffer &result);

  DenseMap<Operation *, PartialResults> partials; // of the reductions that are divided

private:
  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  ReductionLoops &reductionLoops;
  PairwiseTree &tree;
  ProductGroups &productGroups;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALRESULTTREES_H
