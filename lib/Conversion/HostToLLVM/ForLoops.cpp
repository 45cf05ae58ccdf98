// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops over a range, whole or in strips.

#include "ControlFlow.h"
#include "WorkEstimate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
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
  std::optional<int64_t> trips = staticTrips(loop);
  constexpr unsigned minWidth = 32; // the number of iterations of a strip has to fit
  Type index = loop.getInductionVar().getType();
  if (strip < 2 || (index.isInteger() && index.getIntOrFloatBitWidth() < minWidth))
    return emitWhole(loop, carried, Polls::inEachIteration);
  if (trips && *trips <= strip) {
    polls.pollBefore(saturatedWork(*trips, work));
    return emitWhole(loop, carried, Polls::outside);
  }
  return emitStrips(loop, carried, strip, work);
}

// Without strips the loop keeps its bounds.
LogicalResult ForLoops::emitWhole(scf::ForOp loop, const Carries &carried, Polls where) {
  auto mapped = [&](Value value) { return values.scalar(value); };
  auto lowered = scf::ForOp::create(builder, loc, mapped(loop.getLowerBound()), mapped(loop.getUpperBound()),
                                    mapped(loop.getStep()), carried.scalars);
  int64_t workBefore = polls.exchangeWork(0);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(lowered.getBody());
  if (where == Polls::inEachIteration)
    polls.poll();
  if (failed(emitIteration(loop, lowered, lowered.getInductionVar(), carried)))
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

// Iterations are counted from 0, without a sign: the distance of the bounds may be any number of 64 bits.
Value ForLoops::tripCount(scf::ForOp loop) {
  Value lower = values.scalar(loop.getLowerBound()), upper = values.scalar(loop.getUpperBound()),
        step = values.scalar(loop.getStep());
  Value distance = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
  Value trips = builder.createOrFold<arith::CeilDivUIOp>(loc, distance, step);
  Value any = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lower, upper);
  Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(trips.getType()));
  return builder.createOrFold<arith::SelectOp>(loc, any, trips, none);
}

LogicalResult ForLoops::emitStrips(scf::ForOp loop, const Carries &carried, int64_t strip, int64_t work) {
  Type type = loop.getInductionVar().getType();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  auto makeLoop = [&](Value from, Value to, Value by, ValueRange initial) {
    return scf::ForOp::create(builder, loc, from, to, by, initial, nullptr, /*unsignedCmp=*/true);
  };
  Value zero = number(0), one = number(1), trips = tripCount(loop), whole = number(strip);
  auto strips = makeLoop(zero, trips, whole, carried.scalars);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(strips.getBody());
  polls.poll();
  Value first = strips.getInductionVar();
  Value left = arith::SubIOp::create(builder, loc, trips, first);
  Value count = arith::MinUIOp::create(builder, loc, left, whole);
  auto inner = makeLoop(zero, count, one, strips.getRegionIterArgs());
  if (!carried.scalars.empty())
    scf::YieldOp::create(builder, loc, inner.getResults());
  builder.setInsertionPointToStart(inner.getBody());
  Value trip = arith::AddIOp::create(builder, loc, first, inner.getInductionVar());
  Value offset = arith::MulIOp::create(builder, loc, trip, values.scalar(loop.getStep()));
  Value index = arith::AddIOp::create(builder, loc, values.scalar(loop.getLowerBound()), offset);
  if (failed(emitIteration(loop, inner, index, carried)))
    return failure();
  polls.exchangeWork(strip * work);
  values.bindNonTensors(loop.getResults(), strips.getResults());
  return success();
}
