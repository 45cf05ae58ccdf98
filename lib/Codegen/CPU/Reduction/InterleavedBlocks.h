// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Steps of several blocks of a summation order in one loop, which hides the latency of their chains.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDBLOCKS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDBLOCKS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class InterleavedBlocks : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

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
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDBLOCKS_H
