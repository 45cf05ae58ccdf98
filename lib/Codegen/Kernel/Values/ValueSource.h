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
  FailureOr<SmallVector<Value>> applyBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                          ValueRange accumulators) {
    IRMapping known;
    for (auto [argument, value] : llvm::zip(generic.getRegionOutputArgs(), accumulators))
      known.map(argument, value);
    return evaluateBody(generic, loops, known, generic.getBlock()->getTerminator()->getOperands());
  }
  /// Values of the operation's body at these loops. Those in `known` are not computed.
  virtual FailureOr<SmallVector<Value>> evaluateBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                     const IRMapping &known, ValueRange wanted) = 0;
  /// Called before the outputs are evaluated at the positions.
  virtual LogicalResult prepare(ValueRange outputs, ArrayRef<Position> positions) { return success(); }

protected:
  ~ValueSource() = default;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_VALUESOURCE_H
