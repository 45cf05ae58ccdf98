// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors into which slices are inserted, one element at a time: it lies in the slice or it does not.

#include "GenericEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FailureOr<Value> GenericEmitter::compute(Value tensor, const Position &position) {
  Operation *op = buffers.count(tensor) ? nullptr : tensor.getDefiningOp();
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return computeInserted(insert, position);
  if (isa_and_nonnull<tensor::EmptyOp>(op)) { // what nobody has written may be anything
    Type element = getElementTypeOrSelf(tensor.getType());
    return Value(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)));
  }
  return KernelEmitter::compute(tensor, position);
}

std::pair<Position, Value> GenericEmitter::placeInSlice(tensor::InsertSliceOp insert,
                                                        const Position &position) {
  auto valueOf = [&](OpFoldResult number) -> Value {
    if (auto attr = dyn_cast<Attribute>(number))
      return indexConstant(cast<IntegerAttr>(attr).getInt());
    return scalars.lookup(cast<Value>(number));
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  };
  Value isInside = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  Position inside;
  for (auto [axis, index, offset, stride] :
       llvm::enumerate(position, insert.getMixedOffsets(), insert.getMixedStrides())) {
    // Unsigned: what lies before the slice is far behind its end.
    Value at = binary<arith::SubIOp>(index.base, valueOf(offset));
    if (getConstantIntValue(stride) != 1) {
      Value rest = binary<arith::RemUIOp>(at, valueOf(stride));
      isInside = binary<arith::AndIOp>(isInside, compare(arith::CmpIPredicate::eq, rest, indexConstant(0)));
      at = binary<arith::DivUIOp>(at, valueOf(stride));
    }
    isInside = binary<arith::AndIOp>(
        isInside, compare(arith::CmpIPredicate::ult, at, sizeOf(insert.getSource(), axis)));
    inside.push_back({at, 0, nullptr});
  }
  return {inside, isInside};
}

FailureOr<Value> GenericEmitter::computeInserted(tensor::InsertSliceOp insert, const Position &position) {
  if (insert.getSourceType().getRank() != insert.getDestType().getRank())
    return insert.emitOpError("changes the rank; the GPU emitter expects equal ranks");
  auto place = placeInSlice(insert, position);
  Type element = insert.getSourceType().getElementType();
  auto branch = scf::IfOp::create(builder, loc, memoryType(element), place.second, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto yieldAt = [&](Block *block, Value tensor, const Position &where) -> LogicalResult {
    builder.setInsertionPointToStart(block);
    Scope scope(*this);
    Spread ofThread(*this);
    FailureOr<Value> value = evaluator.evaluateOne(tensor, where);
    if (failed(value))
      return failure();
    scf::YieldOp::create(builder, loc, memoryAccess.toMemory(*value));
    return success();
  };
  if (failed(yieldAt(branch.thenBlock(), insert.getSource(), place.first)) ||
      failed(yieldAt(branch.elseBlock(), insert.getDest(), position)))
    return failure();
  builder.setInsertionPointAfter(branch);
  return memoryAccess.fromMemory(branch.getResult(0), element);
}
