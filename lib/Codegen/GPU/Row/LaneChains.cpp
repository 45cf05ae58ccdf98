// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "LaneChains.h"
#include "RowEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FailureOr<SmallVector<Value>> LaneChains::addVector(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                    ArrayRef<Value> indices, ValueRange sums) {
  if (distribution.tiling.inBlock())
    return addTerms(generic, indices, sums);
  ThreadMapping::PerThread perThread(mapping);
  SmallVector<Value> next;
  for (auto [index, sum] : llvm::zip_equal(indices, sums)) {
    SmallVector<Index> inner(loops);
    reductionLoops.setIndex(generic, inner, {index, 0, nullptr});
    auto values = evaluator.applyBody(generic, inner, sum);
    if (failed(values))
      return failure();
    next.push_back(values->front());
  }
  return next;
}

// Other threads have computed the terms.
SmallVector<Value> LaneChains::addTerms(linalg::GenericOp generic, ArrayRef<Value> indices, ValueRange sums) {
  SmallVector<Value> next;
  for (auto [term, sum] : llvm::zip_equal(terms.loadTerms(generic, indices), sums))
    next.push_back(joinPartialResults(builder, loc, combiningOp(generic), sum, term));
  return next;
}

// The chains of this thread's lanes, in their order. The code is unrolled, so that the next pass finds every
// value.
FailureOr<SmallVector<Value>> LaneChains::chainsInRegisters(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                            Value identity) {
  if (failed(registers.loadOperands(generic)))
    return failure();
  const RowTiling &tiling = distribution.tiling;
  SmallVector<Value> sums(tiling.vector * tiling.vectors, identity);
  for (auto [number, vector] : llvm::enumerate(registers.vectors)) {
    auto own = MutableArrayRef(sums).slice(number % tiling.vectors * tiling.vector, tiling.vector);
    auto next = addVector(generic, loops, vector.indices, ValueRange(ArrayRef<Value>(own)));
    if (failed(next))
      return failure();
    for (auto [sum, added] : llvm::zip_equal(own, *next))
      sum = vector.present ? arith::SelectOp::create(builder, loc, vector.present, added, sum).getResult()
                           : added;
  }
  return sums;
}

// Adds a vector of every lane at `first`, and so on below `upper`; so many of them are loaded before the
// first is added.
FailureOr<SmallVector<Value>> LaneChains::chainLoop(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                    ValueRange start, Value first, Value upper,
                                                    int64_t loads) {
  const RowTiling &tiling = distribution.tiling;
  auto loop = scf::ForOp::create(builder, loc, first, upper, indexConstant(loads * tiling.lanes()), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<SmallVector<Value>> vectors;
  SmallVector<SmallVector<Index>> elements;
  for (int64_t i = 0; i < loads; ++i) {
    Value index = binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i * tiling.lanes()));
    vectors.push_back(vectorized.consecutiveIndices(index, tiling.vector));
    for (Value element : vectors.back())
      reductionLoops.setIndex(generic, elements.emplace_back(loops), {element, 0, nullptr});
  }
  if (loads > 1 && !tiling.inBlock()) {
    ThreadMapping::PerThread perThread(mapping);
    if (failed(emitter.evaluator.loadFirst(generic, elements)))
      return failure();
  }
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (ArrayRef<Value> indices : vectors) {
    auto next = addVector(generic, loops, indices, sums);
    if (failed(next))
      return failure();
    sums = *next;
  }
  scf::YieldOp::create(builder, loc, sums);
  return SmallVector<Value>(loop.getResults());
}

FailureOr<SmallVector<Value>> LaneChains::chainsInLoops(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                        Value identity, Value lower, Value upper) {
  const RowTiling &tiling = distribution.tiling;
  SmallVector<Value> sums;
  Value start =
      binary<arith::AddIOp>(lower, binary<arith::MulIOp>(distribution.inGroup, indexConstant(tiling.vector)));
  for (int64_t number = 0; number < tiling.vectors; ++number) {
    Value first = binary<arith::AddIOp>(start, indexConstant(number * tiling.vector * tiling.threads));
    FailureOr<SmallVector<Value>> own = SmallVector<Value>(tiling.vector, identity);
    if (tiling.loads > 1) {
      // Whole steps of the unrolled loop; the last vector of the last one is below `upper`.
      Value step = indexConstant(tiling.loads * tiling.lanes()),
            rest = indexConstant((tiling.loads - 1) * tiling.lanes());
      Value end = binary<arith::SubIOp>(binary<arith::MaxUIOp>(upper, rest), rest);
      Value distance = binary<arith::SubIOp>(binary<arith::MaxUIOp>(end, first), first);
      own = chainLoop(generic, loops, *own, first, end, tiling.loads);
      first = binary<arith::AddIOp>(
          first, binary<arith::MulIOp>(builder.createOrFold<arith::CeilDivUIOp>(loc, distance, step), step));
    }
    if (succeeded(own))
      own = chainLoop(generic, loops, *own, first, upper, 1);
    if (failed(own))
      return failure();
    llvm::append_range(sums, *own);
  }
  return sums;
}

void LaneChains::padEmptyLanes(linalg::GenericOp generic, MutableArrayRef<Value> sums, Value lower,
                               Value upper) {
  const RowTiling &tiling = distribution.tiling;
  Value size = binary<arith::SubIOp>(upper, lower);
  Value first = binary<arith::MulIOp>(distribution.inGroup, indexConstant(tiling.vector));
  for (auto [number, sum] : llvm::enumerate(sums)) {
    int64_t offset = number / tiling.vector * tiling.vector * tiling.threads + number % tiling.vector;
    Value lane = binary<arith::AddIOp>(first, indexConstant(offset));
    sum = warpReductions.padEmptyLane(generic, sum, lane, size, tiling.lanes());
  }
}

Value LaneChains::joinLanes(Operation *join, SmallVector<Value> sums) {
  auto halveTo = [&](size_t count) {
    for (size_t half = sums.size() / 2; half >= count; half /= 2) {
      for (size_t i = 0; i < half; ++i)
        sums[i] = joinPartialResults(builder, loc, join, sums[i], sums[i + half]);
      sums.resize(half);
    }
  };
  halveTo(distribution.tiling.vector);
  for (int64_t distance = distribution.tiling.threads / 2; distance >= 1; distance /= 2)
    for (Value &sum : sums)
      sum = joinPartialResults(builder, loc, join, sum, warpReductions.shuffle(sum, distance));
  halveTo(1);
  return sums.front();
}

FailureOr<Value> LaneChains::laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                       Value lower, Value upper) {
  if (failed(hoisting.hoistReduced(generic, loops)))
    return failure();
  auto sums = distribution.tiling.inRegisters ? chainsInRegisters(generic, loops, identity)
                                              : chainsInLoops(generic, loops, identity, lower, upper);
  if (failed(sums))
    return failure();
  padEmptyLanes(generic, *sums, lower, upper);
  return joinLanes(combiningOp(generic), *sums);
}
