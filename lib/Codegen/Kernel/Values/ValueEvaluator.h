// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values of tensors at positions: through access maps, with scalar code cloned to vectors. A value that was
// computed at a position is remembered for the block it was computed in.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUEEVALUATOR_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUEEVALUATOR_H

#include "../KernelComponent.h"

namespace mlir::ad::codegen {

class ValueEvaluator : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  FailureOr<SmallVector<Value>> evaluate(Value tensor, ArrayRef<Position> positions);
  FailureOr<Value> evaluateOne(Value tensor, const Position &position);
  Value known(Value tensor, const Position &position);
  /// From here on, in this block, the tensor has the value at the position.
  void remember(Value tensor, const Position &position, Value value);
  FailureOr<Value> compute(Value tensor, const Position &position);
  FailureOr<SmallVector<Value>> applyBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                          ValueRange accumulators);
  FailureOr<Value> extract(tensor::ExtractOp op, IRMapping &values, ArrayRef<Index> loops);
  Position apply(AffineMap map, ArrayRef<Index> loops);
  SmallVector<Index> loopsFromOutput(linalg::GenericOp generic, AffineMap map, const Position &position);
  Position insideSlice(tensor::ExtractSliceOp slice, const Position &position);

  /// Values that are remembered during the lifetime of this object are forgotten at its end.
  class Scope {
  public:
    explicit Scope(ValueEvaluator &evaluator) : evaluator(evaluator) { evaluator.caches.emplace_back(); }
    ~Scope() { evaluator.caches.pop_back(); }

  private:
    ValueEvaluator &evaluator;
  };

  SmallVector<std::map<Key, Value>> caches;

private:
  LogicalResult evaluateMissing(Value tensor, ArrayRef<Position> missing);
  LogicalResult evaluateInputs(linalg::GenericOp generic, ArrayRef<Position> positions);
  Key keyOf(Value tensor, const Position &position);
  FailureOr<Value> cloneScalar(Operation *op, IRMapping &values, ArrayRef<Index> loops);
  FailureOr<Value> cloneArithmetic(Operation *op, IRMapping &values);
  Value lookup(Value value, IRMapping &values);
  Index applyExpr(AffineExpr expr, ArrayRef<Index> loops);
  std::optional<Index> affineIndex(Value value, ArrayRef<Index> loops);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUEEVALUATOR_H
