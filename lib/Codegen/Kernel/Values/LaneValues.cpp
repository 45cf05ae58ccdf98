// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "LaneValues.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

Value LaneValues::laneNumbers() {
  Value &known = laneCounts[lanes];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  auto type = VectorType::get(lanes, builder.getIndexType());
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(builder.getIndexAttr(i));
  known = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, numbers));
  return known;
}

Value LaneValues::laneVector(const Index &index) {
  if (index.lanes)
    return index.lanes;
  Value base = splat(index.base, lanes);
  if (index.step == 0)
    return base;
  Value steps = laneNumbers();
  if (index.step != 1)
    steps = arith::MulIOp::create(builder, loc, steps, splat(indexConstant(index.step), lanes));
  return arith::AddIOp::create(builder, loc, base, steps);
}

Value LaneValues::splat(Value scalar, int64_t count) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  Type element = scalar.getType();
  scalar = movable(scalar);
  Value vector = vector::BroadcastOp::create(builder, loc, VectorType::get(count, scalar.getType()), scalar);
  return element == scalar.getType() ? vector : fromMemory(vector, element);
}

Value LaneValues::lanesBelow(Value count) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, laneNumbers(), splat(count, lanes));
}
