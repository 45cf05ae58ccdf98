// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ScalarBuilder.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

Value ScalarBuilder::number(Value like, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(like.getType(), value));
}

Value ScalarBuilder::resized(Value x, unsigned width) {
  unsigned from = x.getType().getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(width);
  if (from == width)
    return x;
  return from < width ? builder.createOrFold<arith::ExtUIOp>(loc, type, x)
                      : arith::TruncIOp::create(builder, loc, type, x).getResult();
}

Value ScalarBuilder::at(Value pointer, Type element, Value index) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, ValueRange{index});
}

Value ScalarBuilder::load(Value pointer, Type type, Value number) {
  return LLVM::LoadOp::create(builder, loc, type, at(pointer, type, number),
                              type.getIntOrFloatBitWidth() / 8);
}

void ScalarBuilder::store(Value pointer, Value number, Value value) {
  LLVM::StoreOp::create(builder, loc, value, at(pointer, value.getType(), number),
                        value.getType().getIntOrFloatBitWidth() / 8);
}
