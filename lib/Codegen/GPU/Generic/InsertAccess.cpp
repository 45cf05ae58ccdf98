// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "InsertAccess.h"
#include "GPUKernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

std::pair<Position, Value> InsertAccess::positionInSlice(tensor::InsertSliceOp insert,
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
    // Unsigned: an index before the slice wraps to a number beyond its size.
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

FailureOr<Value> InsertAccess::compute(tensor::InsertSliceOp insert, const Position &position) {
  if (insert.getSourceType().getRank() != insert.getDestType().getRank())
    return insert.emitOpError("changes the rank; the GPU emitter expects equal ranks");
  auto inside = positionInSlice(insert, position);
  Type element = insert.getSourceType().getElementType();
  auto branch = scf::IfOp::create(builder, loc, memoryType(element), inside.second, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto yieldAt = [&](Block *block, Value tensor, const Position &where) -> LogicalResult {
    builder.setInsertionPointToStart(block);
    Scope scope(context);
    ThreadMapping::PerThread perThread(mapping);
    FailureOr<Value> value = evaluator.evaluateOne(tensor, where);
    if (failed(value))
      return failure();
    scf::YieldOp::create(builder, loc, toMemory(*value));
    return success();
  };
  if (failed(yieldAt(branch.thenBlock(), insert.getSource(), inside.first)) ||
      failed(yieldAt(branch.elseBlock(), insert.getDest(), position)))
    return failure();
  builder.setInsertionPointAfter(branch);
  return fromMemory(branch.getResult(0), element);
}
