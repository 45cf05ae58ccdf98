// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Recurrences along an axis as loops of the host program.

#include "Implementations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType columnType(Value x, int64_t axis) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  return type.clone(shape);
}

// The dynamic sizes of a column.
static SmallVector<Value> columnSizes(Steps &steps, Value x, int64_t axis) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(x.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != axis && type.isDynamicDim(dim))
      sizes.push_back(getValueOrCreateConstantIndexOp(steps.builder, steps.loc,
                                                      sizeOf(steps.builder, steps.loc, x, dim)));
  return sizes;
}

Value ad::columnOf(Steps &steps, Value x, int64_t axis, double value) {
  RankedTensorType type = columnType(x, axis);
  Value scalar = scalarConstant(steps.builder, steps.loc, type.getElementType(), value);
  return BroadcastOp::create(steps.builder, steps.loc, type, scalar, columnSizes(steps, x, axis),
                             PermissionsAttr());
}

SmallVector<Value>
ad::loopAlongAxis(Steps &steps, Value x, int64_t axis, ValueRange start,
                  function_ref<SmallVector<Value>(Value column, ValueRange carried)> body) {
  if (cast<RankedTensorType>(x.getType()).getDimSize(axis) == 0)
    return SmallVector<Value>(start); // no slice of it would be valid
  OpBuilder &builder = steps.builder;
  Location loc = steps.loc;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, x, axis));
  SmallVector<Value> sizes = columnSizes(steps, x, axis);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one, start);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> offsets(cast<RankedTensorType>(x.getType()).getRank(), zero);
    offsets[axis] = loop.getInductionVar();
    Value column =
        DynamicSliceOp::create(builder, loc, columnType(x, axis), x, offsets, sizes, PermissionsAttr());
    scf::YieldOp::create(builder, loc, body(column, loop.getRegionIterArgs()));
  }
  return SmallVector<Value>(loop.getResults());
}
