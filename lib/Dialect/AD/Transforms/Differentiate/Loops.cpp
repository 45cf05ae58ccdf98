// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Facts about loops.

#include "Loops.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

// The steps of a loop that runs are positive; for other ones the loop itself gives an error at run time, and
// this number is only not computed by a division by zero.
static Value countTrips(scf::ForOp loop, OpBuilder &before) {
  Location loc = loop.getLoc();
  Value step = loop.getStep();
  if (!getConstantIntValue(step)) {
    Value one = arith::ConstantOp::create(before, loc, before.getIntegerAttr(step.getType(), 1));
    step = arith::MaxUIOp::create(before, loc, step, one);
  }
  Value trips =
      emitTripCount(before, loc, loop.getLowerBound(), loop.getUpperBound(), step, loop.getUnsignedCmp());
  return trips.getType().isIndex()
             ? trips
             : arith::IndexCastOp::create(before, loc, before.getIndexType(), trips).getResult();
}

LoopBounds ad::boundsOf(scf::ForOp loop, OpBuilder &before) {
  LoopBounds bounds{getAsOpFoldResult(loop.getLowerBound()), getAsOpFoldResult(loop.getStep()), {}};
  std::optional<uint64_t> trips = staticTripCount(loop);
  bounds.trips = trips ? OpFoldResult(before.getIndexAttr(static_cast<int64_t>(*trips)))
                       : OpFoldResult(countTrips(loop, before));
  return bounds;
}

Value ad::asValue(OpBuilder &builder, Location loc, OpFoldResult bound) {
  if (auto attribute = dyn_cast<Attribute>(bound))
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
  return cast<Value>(bound);
}

// The distance to the lower bound is a number of the index's width without sign.
Value ad::iterationNumber(OpBuilder &builder, Location loc, scf::ForOp loop, const LoopBounds &bounds) {
  Value number = loop.getInductionVar();
  if (!isConstantIntValue(bounds.lower, 0))
    number = arith::SubIOp::create(builder, loc, number, asValue(builder, loc, bounds.lower));
  if (!isConstantIntValue(bounds.step, 1))
    number = arith::DivUIOp::create(builder, loc, number, asValue(builder, loc, bounds.step));
  if (!number.getType().isIndex())
    number = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), number);
  return number;
}

bool ad::canBeSaved(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  else if (type.isIndex() || type.isInteger())
    return type.isIndex() || type.getIntOrFloatBitWidth() <= 64;
  return isa<FloatType>(type) || type.isInteger(1) || type.isInteger(8) || type.isInteger(32) ||
         type.isInteger(64);
}

SmallVector<Operation *> ad::effectsWithResults(scf::ForOp loop) {
  SmallVector<Operation *> effects;
  for (Operation &op : loop.getBody()->without_terminator())
    if (op.getNumRegions() == 0 && op.getNumResults() != 0 && !isMemoryEffectFree(&op))
      effects.push_back(&op);
  return effects;
}
