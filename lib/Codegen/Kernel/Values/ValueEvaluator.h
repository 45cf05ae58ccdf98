// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values of tensors at positions: through access maps, with scalar code cloned to vectors. A value that was
// computed at a position is remembered for the block it was computed in. A target may have other ways to
// values, such as copies of them in memory.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUEEVALUATOR_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUEEVALUATOR_H

#include "../Reduction/ReductionEmitter.h"
#include "MemoryAccess.h"

namespace mlir::ad::codegen {

class ValueEvaluator : public KernelComponent, public ValueSource {
public:
  ValueEvaluator(KernelContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess, AccessMaps &maps,
                 ReductionEmitter &reductions)
      : KernelComponent(context), laneValues(laneValues), memoryAccess(memoryAccess), maps(maps),
        reductions(reductions) {}

  FailureOr<SmallVector<Value>> evaluate(Value tensor, ArrayRef<Position> positions) override;
  FailureOr<SmallVector<Value>> evaluateBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                             const IRMapping &known, ValueRange wanted) override;
  virtual FailureOr<Value> compute(Value tensor, const Position &position);
  /// Loads what the body reads from memory at each of these loops, before it is computed: scalar code with
  /// branches would hold back the next load.
  LogicalResult loadFirst(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);

protected:
  ~ValueEvaluator() = default;

  /// The value that the body of the operand's operation reads at these loops.
  virtual FailureOr<Value> operandValue(OpOperand *input, ArrayRef<Index> loops);
  /// Where the body at these loops reads the operand.
  virtual Position positionOf(OpOperand *input, ArrayRef<Index> loops);
  /// A remembered value, for the code that uses it now.
  virtual Value reload(Value value) { return value; }

private:
  Value knownAt(Value tensor, const Position &position);
  LogicalResult evaluateMissing(Value tensor, ArrayRef<Position> missing);
  LogicalResult evaluateInputs(linalg::GenericOp generic, ArrayRef<Position> positions);
  LogicalResult loadFirst(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                          llvm::SmallPtrSetImpl<Operation *> &visited);
  FailureOr<Value> extract(tensor::ExtractOp op, IRMapping &values, ArrayRef<Index> loops);
  FailureOr<Value> extractInside(tensor::ExtractOp op, IRMapping &values, ArrayRef<Index> loops);
  FailureOr<Value> cloneScalar(Operation *op, IRMapping &values, ArrayRef<Index> loops);
  FailureOr<Value> cloneArithmetic(Operation *op, IRMapping &values);
  Value lookup(Value value, IRMapping &values);

  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  ReductionEmitter &reductions;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUEEVALUATOR_H
