// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RaiseScalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ad;

// Operations with two results.
static SmallVector<Value> raisePair(TensorCode code, Operation *op, ValueRange x) {
  if (isa<math::SincosOp>(op))
    return {code.unary<SinOp>(x[0]), code.unary<CosOp>(x[0])};
  if (isa<arith::AddUIExtendedOp>(op) && !TensorCode::elementOf(x[0]).isInteger(1)) {
    Value sum = code.add(x[0], x[1]);
    return {sum, unsignedLess(code, sum, x[0])};
  }
  return {};
}

SmallVector<Value> ad::raiseScalarOp(TensorCode code, Operation *op, ValueRange operands) {
  if (operands.empty())
    return {};
  for (auto raise : {raiseArithmetic, raiseIntegers, raiseComparison, raiseConversion, raiseMath})
    if (Value raised = raise(code, op, operands))
      return {raised};
  return raisePair(code, op, operands);
}
