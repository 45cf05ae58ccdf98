// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of bf16 by instructions that multiply and add pairs along K.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_DOTPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_DOTPRODUCTS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class DotProducts : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// Elements along K that a lane of the contraction's instruction multiplies: 2 of bf16, 4 of i8, else 1.
  int64_t groupSize(linalg::GenericOp generic);
  Buffer inPairs(Buffer buffer);
  Value joinPair(Value low, Value high);
  /// Lanes of pairs of an operand that the kernel converts; the last index counts pairs.
  FailureOr<Value> convertPairs(OpOperand *operand, Position position);
  FailureOr<SmallVector<Value>> addDotProduct(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum);
  /// Reports, once, that the contraction uses the permission `mma`.
  void recordUse(linalg::GenericOp generic);

private:
  FailureOr<Value> pairOf(OpOperand *input, ArrayRef<Index> loops, unsigned reducedLoop);

  llvm::SmallPtrSet<Operation *, 2> recorded;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_DOTPRODUCTS_H
