// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The members of ArithBuilder that do not depend on the element type.
#include "adjoint/Numerics/Math/ArithBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::ad::numerics {

Value ArithBuilder::emitFma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }

Value ArithBuilder::emitSqrt(Value x) { return math::SqrtOp::create(builder, loc, x); }

Value ArithBuilder::emitConstant(TypedAttr attribute) {
  Value &known = constants[attribute];
  if (!known) {
    TypedAttr shapedAttribute = attribute;
    if (vector)
      shapedAttribute =
          DenseElementsAttr::get(VectorType::get(vector.getShape(), attribute.getType()), attribute);
    known = arith::ConstantOp::create(builder, loc, shapedAttribute);
  }
  return known;
}

} // namespace mlir::ad::numerics
