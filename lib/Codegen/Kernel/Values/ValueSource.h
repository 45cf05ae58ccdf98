// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values of tensors at positions. Reductions and everything that is evaluated inside of other code need
// values, whose evaluation needs reductions: they see the evaluator through this interface.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUESOURCE_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUESOURCE_H

#include "../KernelTypes.h"

namespace mlir::ad::codegen {

class ValueSource {
public:
  virtual FailureOr<SmallVector<Value>> evaluate(Value tensor, ArrayRef<Position> positions) = 0;
  FailureOr<Value> evaluateOne(Value tensor, const Position &position) {
    FailureOr<SmallVector<Value>> values = evaluate(tensor, ArrayRef<Position>(position));
    if (failed(values))
      return failure();
    return values->front();
  }
  /// The results of the operation's body at these loops.
  virtual FailureOr<SmallVector<Value>> applyBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                  ValueRange accumulators) = 0;
  /// Called before the outputs are evaluated at the positions.
  virtual LogicalResult prepare(ValueRange outputs, ArrayRef<Position> positions) { return success(); }

protected:
  ~ValueSource() = default;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUESOURCE_H
