// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "LaneChains.h"
#include "RowDistribution.h"
#include "RowEmitter.h"
#include "RowRegisters.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FailureOr<SmallVector<Value>> LaneChains::addVector(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                    ArrayRef<Value> indices, ValueRange sums) {
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

// As many vectors as keep enough bytes in flight, but not more code than a kernel gets elsewhere.
int64_t LaneChains::vectorsAtOnce() {
  constexpr int64_t most = 4, maxOperations = 512;
  int64_t operations = 0;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    operations += llvm::range_size(*generic.getBlock());
  int64_t fitting = maxOperations / std::max<int64_t>(operations * distribution.tiling.vector, 1);
  return std::clamp<int64_t>(fitting, 1, most);
}

// The vectors at these first indices, all of which are loaded before one is added.
FailureOr<SmallVector<Value>> LaneChains::addVectors(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                     ArrayRef<Value> firsts, ValueRange sums) {
  SmallVector<SmallVector<Value>> vectors;
  SmallVector<SmallVector<Index>> inner;
  for (Value first : firsts)
    for (Value index :
         vectors.emplace_back(vectorized.consecutiveIndices(first, distribution.tiling.vector))) {
      inner.emplace_back(loops);
      reductionLoops.setIndex(generic, inner.back(), {index, 0, nullptr});
    }
  ThreadMapping::PerThread perThread(mapping);
  if (failed(emitter.evaluator.loadFirst(generic, inner)))
    return failure();
  SmallVector<Value> next(sums);
  for (ArrayRef<Value> indices : vectors) {
    auto added = addVector(generic, loops, indices, next);
    if (failed(added))
      return failure();
    next = std::move(*added);
  }
  return next;
}

// One loop over vectors of the thread, `count` at a time, from `first` to before `upper`.
FailureOr<SmallVector<Value>> LaneChains::loopOverVectors(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                          int64_t count, Value first, Value upper,
                                                          ArrayRef<Value> sums) {
  int64_t distance = distribution.tiling.lanes();
  auto loop = scf::ForOp::create(builder, loc, first, upper, indexConstant(count * distance), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<Value> firsts;
  for (int64_t number = 0; number < count; ++number)
    firsts.push_back(binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(number * distance)));
  auto next = addVectors(generic, loops, firsts, loop.getRegionIterArgs());
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  return SmallVector<Value>(loop.getResults());
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

FailureOr<SmallVector<Value>> LaneChains::chainsInLoops(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                        Value identity, Value lower, Value upper) {
  const RowTiling &tiling = distribution.tiling;
  SmallVector<Value> sums;
  Value start =
      binary<arith::AddIOp>(lower, binary<arith::MulIOp>(distribution.inGroup, indexConstant(tiling.vector)));
  for (int64_t number = 0; number < tiling.vectors; ++number) {
    Value first = binary<arith::AddIOp>(start, indexConstant(number * tiling.vector * tiling.threads));
    SmallVector<Value> identities(tiling.vector, identity);
    // Of `count` vectors at once as many as there are, then one by one.
    int64_t count = vectorsAtOnce(), distance = tiling.lanes();
    Value last = binary<arith::SubIOp>(upper, indexConstant((count - 1) * distance));
    auto most = loopOverVectors(generic, loops, count, first, last, identities);
    if (failed(most))
      return failure();
    Value steps = indexConstant(count * distance);
    Value some = binary<arith::MaxSIOp>(binary<arith::SubIOp>(last, first), indexConstant(0));
    Value rest =
        binary<arith::AddIOp>(first, binary<arith::MulIOp>(binary<arith::CeilDivUIOp>(some, steps), steps));
    auto all = count == 1 ? most : loopOverVectors(generic, loops, 1, rest, upper, *most);
    if (failed(all))
      return failure();
    llvm::append_range(sums, *all);
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
