// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests of the kernel emitter: scalar loops outside, vectors with a masked rest along the contiguous
// axis, and blocks of rows and vectors for code that reuses its operands.

#include "CPUKernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Lanes of the vector that a rest of known size starts with; 0 when a mask is better. A mask keeps the next
// kernel from loading what is still in the store buffer.
static int64_t lanesOfRest(int64_t rest, int64_t vectorLanes) {
  constexpr int maxVectors = 4;
  bool isShort = rest > 1 && rest < vectorLanes && llvm::popcount(uint64_t(rest)) <= maxVectors;
  return isShort ? llvm::bit_floor(uint64_t(rest)) : 0;
}

LogicalResult LoopNests::emitNest(const Nest &nest, Store store) {
  if (nest.blocked) {
    Position outer(nest.laneAxis(), {indexConstant(0), 0, nullptr});
    return emitter.blockEmitter.emitBatches(nest, 0, outer, nest.units, store);
  }
  SmallVector<Position> positions(1);
  return emitLoops(nest, 0, nest.vectorize ? nest.laneAxis() : -1, positions, nest.units, store);
}

LogicalResult LoopNests::emitLoops(const Nest &nest, int64_t axis, int64_t laneAxis,
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
  if (emitter.distribution.hasUnitsInside(nest, axis))
    return emitter.distribution.overUnits(
        nest, axis, units, [&](Value base, UnitRange inside) { return withIndices(base, 1, inside); });
  auto [lower, upper] = emitter.distribution.boundsOf(nest, axis, units);
  if (axis == laneAxis)
    return emitLaneLoop(nest, lower, upper, positions, store);
  if (axis == nest.shortRowAxis)
    return emitter.shortRows.emitShortRows(nest, lower, upper, positions, store,
                                           [&](Value row) { return withIndices(row, 1, units); });
  if (nest.shape[axis] == 1 && axis != nest.range.axis)
    return withIndices(indexConstant(0), 1, units);
  if (axis == rank - 1 && nest.rows > 1) {
    Value step = indexConstant(nest.rows);
    Value whole =
        binary<arith::MulIOp>(binary<arith::DivUIOp>(binary<arith::SubIOp>(upper, lower), step), step);
    Value middle = binary<arith::AddIOp>(lower, whole);
    if (failed(emitter.emitLoop(lower, middle, step,
                                [&](Value base) { return withIndices(base, nest.rows, units); })))
      return failure();
    lower = middle;
  }
  return emitter.emitLoop(lower, upper, indexConstant(1),
                          [&](Value base) { return withIndices(base, 1, units); });
}

// Vectors over [lower, upper) of the lane axis, unrolled as often as the nest says, then less, then a masked
// rest.
LogicalResult LoopNests::emitLaneLoop(const Nest &nest, Value lower, Value upper,
                                      ArrayRef<Position> positions, Store store) {
  int64_t rank = nest.shape.size();
  if (failed(hoistAlong(nest, positions)))
    return failure();
  auto emitAt = [&](Value base, int64_t vectors, Value active, int64_t width) -> LogicalResult {
    CPUKernelEmitter::WithLanes vectorCode(emitter, width, active);
    SmallVector<Position> extended;
    for (int64_t v = 0; v < vectors; ++v) {
      Value start = v == 0 ? base : binary<arith::AddIOp>(base, indexConstant(v * vectorLanes));
      for (const Position &position : positions) {
        extended.push_back(position);
        extended.back().push_back({start, 1, nullptr});
        // Axes after the lane axis have size 1.
        while (int64_t(extended.back().size()) < rank)
          extended.back().push_back({indexConstant(0), 0, nullptr});
      }
    }
    return store(extended);
  };
  auto mainLoop = [&](int64_t vectors) -> LogicalResult {
    Value step = indexConstant(vectors * vectorLanes);
    Value whole =
        binary<arith::MulIOp>(binary<arith::DivUIOp>(binary<arith::SubIOp>(upper, lower), step), step);
    Value middle = binary<arith::AddIOp>(lower, whole);
    LogicalResult result = emitter.emitLoop(
        lower, middle, step, [&](Value base) { return emitAt(base, vectors, nullptr, vectorLanes); });
    lower = middle;
    return result;
  };
  for (int64_t vectors = nest.vectors; vectors > 1; vectors = llvm::bit_floor<uint64_t>(vectors - 1))
    if (failed(mainLoop(vectors)))
      return failure();
  if (failed(mainLoop(1)))
    return failure();
  Value rest = binary<arith::SubIOp>(upper, lower);
  while (int64_t width = flat ? lanesOfRest(constantOf(rest).value_or(0), vectorLanes) : 0) {
    if (failed(emitAt(lower, 1, nullptr, width)))
      return failure();
    lower = binary<arith::AddIOp>(lower, indexConstant(width));
    rest = binary<arith::SubIOp>(upper, lower);
  }
  // One element is scalar code. (A masked store with a constant mask of one 16-bit lane writes two in
  // LLVM 22.)
  if (constantOf(rest) == 1) {
    SmallVector<Position> extended(positions);
    for (Position &position : extended) {
      position.push_back({lower, 0, nullptr});
      while (int64_t(position.size()) < rank)
        position.push_back({indexConstant(0), 0, nullptr});
    }
    return store(extended);
  }
  // At most one iteration: a masked vector over the remainder.
  return emitter.emitLoop(lower, upper, indexConstant(vectorLanes), [&](Value base) {
    CPUKernelEmitter::WithLanes vectorCode(emitter, vectorLanes, nullptr);
    Value active =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, emitter.laneValues.laneNumbers(),
                              emitter.laneValues.splat(rest, vectorLanes));
    return emitAt(base, 1, active, vectorLanes);
  });
}

// Before the loop over the axis that follows the ones in `positions`.
LogicalResult LoopNests::hoistAlong(const Nest &nest, ArrayRef<Position> positions) {
  if (flat)
    return success();
  emitter.byteDots.hoistRowSums(nest, positions);
  for (Position position : positions) {
    position.resize(nest.shape.size(), {indexConstant(0), 0, nullptr});
    position[positions.front().size()] = Index::varying();
    Visited visited;
    for (Value output : nest.outputs)
      if (failed(emitter.hoisting.hoist(output, position, visited)))
        return failure();
  }
  return success();
}
