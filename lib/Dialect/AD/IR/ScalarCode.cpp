// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Helpers that build scalar code.

#include "adjoint/Dialect/AD/IR/ScalarCode.h"

using namespace mlir;
using namespace mlir::ad;

Value ad::convertScalar(OpBuilder &builder, Location loc, Value scalar, Type type) {
  return scalar.getType() == type ? scalar : Value(ConvertOp::create(builder, loc, type, scalar));
}

Value ad::numberConstant(OpBuilder &builder, Location loc, Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, static_cast<int64_t>(value)));
}

SmallVector<Value> ScalarCode::widen(ValueRange scalars) const {
  return llvm::map_to_vector(scalars,
                             [&](Value scalar) { return convert(scalar, computeType(scalar.getType())); });
}
