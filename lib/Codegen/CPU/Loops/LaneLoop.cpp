// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The loop along the contiguous axis: a masked vector up to a cache line, whole vectors, and a masked
// remainder.

#include "LaneLoop.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Lanes of the vector that a remainder of known size starts with; 0 when a mask is better. After a masked
// store, loads of the next kernel cannot be forwarded from the store buffer.
static int64_t lanesOfRemainder(int64_t rest, int64_t vectorLanes) {
  constexpr int maxVectors = 4;
  bool isShort = rest > 1 && rest < vectorLanes && llvm::popcount(uint64_t(rest)) <= maxVectors;
  return isShort ? llvm::bit_floor(uint64_t(rest)) : 0;
}

// Vectors over [lower, upper) of the lane axis: a masked one up to a cache line, as many in an iteration as
// the nest says, then fewer, then a masked remainder.
LogicalResult LaneLoop::emitLaneLoop(const CPUNest &nest, Value lower, Value upper,
                                     ArrayRef<Position> positions, Store store) {
  if (failed(hoistAlong(nest, positions)))
    return failure();
  if (Value head = lineAlignment.elementsToLine(nest, lower, upper)) {
    Value aligned = binary<arith::AddIOp>(lower, head);
    if (failed(emitRemainder(nest, positions, lower, aligned, store)))
      return failure();
    lower = aligned;
  }
  for (int64_t vectors = std::max<int64_t>(nest.vectors, 1); vectors >= 1;
       vectors = llvm::bit_floor<uint64_t>(vectors - 1)) {
    FailureOr<Value> next = emitWholeVectors(nest, positions, lower, upper, vectors, store);
    if (failed(next))
      return failure();
    lower = *next;
  }
  return emitRemainder(nest, positions, lower, upper, store);
}

LogicalResult LaneLoop::emitVectorsAt(const CPUNest &nest, ArrayRef<Position> rows, Value start,
                                      const Vectors &vectors, Store store) {
  WithLanes vectorCode(context, vectors.width, vectors.active);
  SmallVector<Position> extended;
  for (int64_t v = 0; v < vectors.count; ++v) {
    Value base = v == 0 ? start : binary<arith::AddIOp>(start, indexConstant(v * vectorLanes));
    for (const Position &row : rows) {
      extended.push_back(row);
      extended.back().push_back({base, 1, nullptr});
      // Axes after the lane axis have size 1.
      while (extended.back().size() < nest.shape.size())
        extended.back().push_back({indexConstant(0), 0, nullptr});
    }
  }
  return store(extended);
}

// A loop over `count` whole vectors per iteration. Returns the first index after them.
FailureOr<Value> LaneLoop::emitWholeVectors(const CPUNest &nest, ArrayRef<Position> rows, Value lower,
                                            Value upper, int64_t count, Store store) {
  Value step = indexConstant(count * vectorLanes);
  Value whole =
      binary<arith::MulIOp>(binary<arith::DivUIOp>(binary<arith::SubIOp>(upper, lower), step), step);
  Value middle = binary<arith::AddIOp>(lower, whole);
  Vectors vectors{count, vectorLanes, nullptr};
  if (failed(emitLoop(lower, middle, step,
                      [&](Value base) { return emitVectorsAt(nest, rows, base, vectors, store); })))
    return failure();
  return middle;
}

// Fewer elements than a vector has lanes.
LogicalResult LaneLoop::emitRemainder(const CPUNest &nest, ArrayRef<Position> rows, Value lower, Value upper,
                                      Store store) {
  Value rest = binary<arith::SubIOp>(upper, lower);
  while (int64_t width = flat ? lanesOfRemainder(constantOf(rest).value_or(0), vectorLanes) : 0) {
    if (failed(emitVectorsAt(nest, rows, lower, {1, width, nullptr}, store)))
      return failure();
    lower = binary<arith::AddIOp>(lower, indexConstant(width));
    rest = binary<arith::SubIOp>(upper, lower);
  }
  // One element is scalar code. (A masked store with a constant mask of one 16-bit lane writes two in
  // LLVM 22.)
  if (constantOf(rest) == 1) {
    SmallVector<Position> extended(rows);
    for (Position &position : extended) {
      position.push_back({lower, 0, nullptr});
      while (position.size() < nest.shape.size())
        position.push_back({indexConstant(0), 0, nullptr});
    }
    return store(extended);
  }
  // At most one iteration: a masked vector.
  return emitLoop(lower, upper, indexConstant(vectorLanes), [&](Value base) {
    WithLanes vectorCode(context, vectorLanes, nullptr);
    Value active = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, laneValues.laneNumbers(),
                                         laneValues.splat(rest, vectorLanes));
    return emitVectorsAt(nest, rows, base, {1, vectorLanes, active}, store);
  });
}

// Before the loop over the axis that follows the ones in `positions`.
LogicalResult LaneLoop::hoistAlong(const CPUNest &nest, ArrayRef<Position> positions) {
  if (flat)
    return success();
  byteDotProducts.hoistRowSums(nest, positions);
  for (Position position : positions) {
    position.resize(nest.shape.size(), {indexConstant(0), 0, nullptr});
    position[positions.front().size()] = Index::varying();
    Visited visited;
    for (Value output : nest.outputs)
      if (failed(hoisting.hoist(output, position, visited)))
        return failure();
  }
  return success();
}
