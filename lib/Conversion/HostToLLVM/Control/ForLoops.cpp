// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops over a range, whole or in strips.

#include "../Launches/WorkEstimate.h"
#include "ControlFlow.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

SmallVector<HostTensor> ForLoops::bindCarries(scf::ForOp loop) {
  SmallVector<HostTensor> bound;
  for (auto [i, init, argument] : llvm::enumerate(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    bound.push_back(carries.bindArgument(argument, init, buffers.plan.bufferOf(loop->getResult(i))));
    values.bind(loop.getResult(i), bound.back());
  }
  return bound;
}

LogicalResult ForLoops::emit(scf::ForOp loop) {
  Carries carried{bindCarries(loop), values.nonTensorScalars(loop.getInitArgs())};
  int64_t work = workOf(*loop.getBody()), strip = polls.iterationsBetweenPolls(work);
  std::optional<uint64_t> trips = staticTripCount(loop);
  if (strip < 2)
    return emitWhole(loop, carried, Polls::inEachIteration);
  if (trips && *trips <= static_cast<uint64_t>(strip)) {
    polls.pollBefore(saturatedWork(*trips, work));
    return emitWhole(loop, carried, Polls::outside);
  }
  return emitStrips(loop, carried, strip, work);
}

// Whether the loop may add its step until the index is at the upper bound: the last sum is a number of the
// type. With steps of 1 it is the upper bound.
static bool mayAddSteps(scf::ForOp loop) {
  if (std::optional<LoopRange> range = staticRange(loop))
    return range->lastStepFits();
  return matchPattern(loop.getStep(), m_One());
}

// Without strips the loop keeps its bounds, or counts iterations.
scf::ForOp ForLoops::makeWhole(scf::ForOp loop, ValueRange initial) {
  Value lower = values.scalar(loop.getLowerBound()), upper = values.scalar(loop.getUpperBound()),
        step = values.scalar(loop.getStep());
  bool isUnsigned = loop.getUnsignedCmp();
  if (mayAddSteps(loop))
    return scf::ForOp::create(builder, loc, lower, upper, step, initial, nullptr, isUnsigned);
  Value trips = emitTripCount(builder, loc, lower, upper, step, isUnsigned);
  return makeCounting(trips, number(trips.getType(), 1), initial);
}

LogicalResult ForLoops::emitWhole(scf::ForOp loop, const Carries &carried, Polls where) {
  scf::ForOp lowered = makeWhole(loop, carried.scalars);
  int64_t workBefore = polls.exchangeWork(0);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(lowered.getBody());
  if (where == Polls::inEachIteration)
    polls.poll();
  Value index = lowered.getInductionVar();
  if (!mayAddSteps(loop))
    index = indexOf(loop, index);
  if (failed(emitIteration(loop, lowered, index, carried)))
    return failure();
  if (where == Polls::outside)
    polls.exchangeWork(workBefore); // includes the work of all iterations
  values.bindNonTensors(loop.getResults(), lowered.getResults());
  return success();
}

// The iteration of `loop` with this index, in the body of a lowered loop.
LogicalResult ForLoops::emitIteration(scf::ForOp loop, scf::ForOp lowered, Value index,
                                      const Carries &carried) {
  values.bindScalar(loop.getInductionVar(), index);
  values.bindNonTensors(loop.getRegionIterArgs(), lowered.getRegionIterArgs());
  if (failed(blocks.emitBlock(*loop.getBody())))
    return failure();
  loc = loop.getLoc();
  carries.yieldTensors(loop.getYieldedValues(), carried.tensors, buffers.plan.temporariesOf(loop));
  // A loop that carries nothing already has its terminator.
  if (SmallVector<Value> next = values.nonTensorScalars(loop.getYieldedValues()); !next.empty())
    scf::YieldOp::create(builder, loc, next);
  return success();
}

Value ForLoops::number(Type type, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

// A loop that counts from 0, without a sign.
scf::ForOp ForLoops::makeCounting(Value to, Value by, ValueRange initial) {
  return scf::ForOp::create(builder, loc, number(to.getType(), 0), to, by, initial, nullptr,
                            /*unsignedCmp=*/true);
}

Value ForLoops::indexOf(scf::ForOp loop, Value trip) {
  return emitLoopIndex(builder, loc, values.scalar(loop.getLowerBound()), values.scalar(loop.getStep()),
                       trip);
}

LogicalResult ForLoops::emitStrips(scf::ForOp loop, const Carries &carried, int64_t strip, int64_t work) {
  Value trips =
      emitTripCount(builder, loc, values.scalar(loop.getLowerBound()), values.scalar(loop.getUpperBound()),
                    values.scalar(loop.getStep()), loop.getUnsignedCmp());
  Value one = number(trips.getType(), 1), whole = number(trips.getType(), strip);
  scf::ForOp strips = makeCounting(trips, whole, carried.scalars);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(strips.getBody());
  polls.poll();
  Value first = strips.getInductionVar();
  Value left = arith::SubIOp::create(builder, loc, trips, first);
  Value count = arith::MinUIOp::create(builder, loc, left, whole);
  scf::ForOp inner = makeCounting(count, one, strips.getRegionIterArgs());
  if (!carried.scalars.empty())
    scf::YieldOp::create(builder, loc, inner.getResults());
  builder.setInsertionPointToStart(inner.getBody());
  Value trip = arith::AddIOp::create(builder, loc, first, inner.getInductionVar());
  if (failed(emitIteration(loop, inner, indexOf(loop, trip), carried)))
    return failure();
  polls.exchangeWork(strip * work);
  values.bindNonTensors(loop.getResults(), strips.getResults());
  return success();
}
