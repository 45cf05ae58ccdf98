// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests of the kernel emitter: scalar loops outside, vectors with a masked remainder along the
// contiguous axis, and blocks of rows and vectors for code that reuses its operands.

#include "LoopNests.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

LogicalResult LoopNests::emitNest(const CPUNest &nest, Store store) {
  if (nest.blocked) {
    Position outer(nest.laneAxis(), {indexConstant(0), 0, nullptr});
    return contractionBlocks.emitBatches(nest, 0, outer, nest.units, store);
  }
  SmallVector<Position> positions(1);
  return emitLoops(nest, 0, nest.vectorize ? nest.laneAxis() : -1, positions, nest.units, store);
}

LogicalResult LoopNests::emitLoops(const CPUNest &nest, int64_t axis, int64_t laneAxis,
                                   SmallVectorImpl<Position> &positions, UnitRange units, Store store) {
  int64_t rank = nest.shape.size();
  if (axis == rank)
    return store(positions);
  auto withIndices = [&](Value base, int64_t count, UnitRange inside) {
    SmallVector<Position> extended;
    for (int64_t i = 0; i < count; ++i) {
      Value index = i == 0 ? base : binary<arith::AddIOp>(base, indexConstant(i));
      for (const Position &position : positions)
        extended.emplace_back(position).push_back({index, 0, nullptr});
    }
    return emitLoops(nest, axis + 1, laneAxis, extended, inside, store);
  };
  if (distribution.hasUnitsInside(nest, axis))
    return distribution.overUnits(nest, axis, units,
                                  [&](Value base, UnitRange inside) { return withIndices(base, 1, inside); });
  auto [lower, upper] = distribution.boundsOf(nest, axis, units);
  if (axis == laneAxis)
    return laneLoop.emitLaneLoop(nest, lower, upper, positions, store);
  if (axis == nest.shortRowAxis)
    return shortRows.emitShortRows(nest, lower, upper, positions, store,
                                   [&](Value row) { return withIndices(row, 1, units); });
  if (nest.shape[axis] == 1 && axis != nest.range.axis)
    return withIndices(indexConstant(0), 1, units);
  if (axis == rank - 1 && nest.rows > 1) {
    Value step = indexConstant(nest.rows);
    Value whole =
        binary<arith::MulIOp>(binary<arith::DivUIOp>(binary<arith::SubIOp>(upper, lower), step), step);
    Value middle = binary<arith::AddIOp>(lower, whole);
    if (failed(
            emitLoop(lower, middle, step, [&](Value base) { return withIndices(base, nest.rows, units); })))
      return failure();
    lower = middle;
  }
  return emitLoop(lower, upper, indexConstant(1), [&](Value base) { return withIndices(base, 1, units); });
}
