// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands that are contiguous along K, transposed in registers where tiles read them.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_REGISTERTRANSPOSE_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_REGISTERTRANSPOSE_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class RegisterTranspose : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// Vectors of columns by operand and position.
  using TransposedBlocks = std::map<std::pair<OpOperand *, std::vector<Index>>, Value>;
  bool isContiguous(Value tensor);
  bool isContiguousAlongK(OpOperand *operand, unsigned columnLoop);
  SmallVector<OpOperand *> operandsToTranspose(linalg::GenericOp generic, ArrayRef<Index> loops);
  int64_t maxTransposedVectors(const Nest &nest, unsigned columnLoop);
  Value transposedValue(OpOperand *operand, ArrayRef<Index> loops);
  FailureOr<SmallVector<Value>> transposedChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                ArrayRef<Value> start, Value lower, Value upper);

private:
  FailureOr<Value> loadAlongK(OpOperand *operand, Position position);
  FailureOr<SmallVector<Value>> loadBlock(OpOperand *operand, ArrayRef<Index> loops, Value step,
                                          Value active);
  LogicalResult transposeBlock(OpOperand *operand, ArrayRef<Index> loops, ArrayRef<Value> steps,
                               Value active);
  LogicalResult transposeOperands(linalg::GenericOp generic, ArrayRef<Index> loops, ArrayRef<Value> steps,
                                  Value active);
  FailureOr<SmallVector<Value>> transposedSteps(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                ValueRange accumulators, Value first, int64_t count);
  LogicalResult partialSteps(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                             ArrayRef<size_t> positions, MutableArrayRef<Value> accumulators, Value first,
                             Value count);
  FailureOr<SmallVector<Value>> unalignedChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                               ArrayRef<Value> start, Value lower, Value upper);
  FailureOr<SmallVector<Value>> partialBlock(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                             ValueRange accumulators, Value first, Value count);
  FailureOr<SmallVector<Value>> wholeBlocks(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                            ArrayRef<Value> accumulators, Value lower, Value upper);
  Value stepsToLine(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, Value lower, Value upper);
  bool canRotate(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  FailureOr<SmallVector<Value>> transposedRotating(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops,
                                                   ValueRange accumulators, Value lower, Value upper);
  FailureOr<SmallVector<Value>> transposedUnrolled(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops,
                                                   ValueRange accumulators, Value lower, Value upper);

  TransposedBlocks transposed; // of the chain that is being emitted
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_REGISTERTRANSPOSE_H
