// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The balanced pairwise tree of an order, over blocks of a reduction.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_PAIRWISETREE_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_PAIRWISETREE_H

#include "../KernelComponent.h"
#include <map>

namespace mlir::ad::codegen {

class PairwiseTree : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  /// Joins blocks of `length` elements each; `block` emits the reduction of [lower, upper).
  FailureOr<SmallVector<Value>> joinBlocks(Value total, int64_t length, ArrayRef<Value> identities,
                                           Operation *join, BlockCode block);

private:
  class Stack;
  std::map<std::pair<const void *, int64_t>, SmallVector<Value>> unusedStacks; // of Stack
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_PAIRWISETREE_H
