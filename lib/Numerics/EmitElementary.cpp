// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Instantiates the elementary functions with ArithBuilder.
#include "adjoint/Numerics/EmitElementary.h"
#include "Dispatch.h"
#include "adjoint/Numerics/Math/ArithBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::ad::numerics {

template <class T> static Value emit(ArithBuilder &builder, Elementary function, ValueRange operands) {
  return applyElementary<T>(builder, function, builder.wrap<T>(operands.front()),
                            builder.wrap<T>(operands.back()))
      .value;
}

Value emitElementary(OpBuilder &builder, Location loc, Elementary function, ValueRange operands) {
  assert(operands.size() == (isBinary(function) ? 2u : 1u) &&
         "expected as many operands as the function takes");
  Type type = operands.front().getType();
  ArithBuilder arith(builder, loc, type);
  if (getElementTypeOrSelf(type).isF64())
    return emit<double>(arith, function, operands);
  assert(getElementTypeOrSelf(type).isF32() && "expected f32 or f64 operands");
  return emit<float>(arith, function, operands);
}

Value emitApproximation(OpBuilder &builder, Location loc, Elementary function, Value operand) {
  assert(hasApproximation(function) && getElementTypeOrSelf(operand.getType()).isF32() &&
         "expected a function with a shorter form, of f32");
  ArithBuilder arith(builder, loc, operand.getType());
  return applyApproximation<ArithBuilder>(arith, function, arith.wrap<float>(operand)).value;
}

} // namespace mlir::ad::numerics
