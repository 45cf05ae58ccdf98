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

Value ScalarCode::orderKey(Value number, bool descending) const {
  Value value = convert(number, computeType(number.getType()));
  auto type = dyn_cast<FloatType>(value.getType());
  if (!type) {
    Value wide = convert(value, builder.getI64Type());
    // ~x reverses the order without overflow.
    return descending ? make<arith::XOrIOp>({wide, constant(builder.getI64Type(), -1)}) : wide;
  }
  Value isNaN = compare(arith::CmpFPredicate::UNO, value, value);
  if (descending)
    value = make<arith::NegFOp>({value});
  unsigned width = type.getWidth();
  Type bitsType = builder.getIntegerType(width);
  Value bits = arith::BitcastOp::create(builder, loc, bitsType, value);
  auto integer = [&](const APInt &bits) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(bitsType, bits));
  };
  Value sign = make<arith::ShRSIOp>({bits, integer(APInt(width, width - 1))});
  Value flip = make<arith::AndIOp>({sign, integer(APInt::getSignedMaxValue(width))});
  Value key = make<arith::XOrIOp>({bits, flip});
  return convert(select(isNaN, integer(APInt::getSignedMaxValue(width)), key), builder.getI64Type());
}
