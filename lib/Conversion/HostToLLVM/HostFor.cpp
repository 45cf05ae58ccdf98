// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// scf.for of the host program. The program asks in a loop whether the host wants it to stop: in each
// iteration, or, when one iteration is little work, once per strip of iterations. The loop over a strip has
// no calls then, so that what it carries stays in registers.

#include "HostEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

static std::optional<int64_t> constantOf(Value value) {
  return getConstantIntValue(getAsOpFoldResult(value));
}

// The number of iterations, if the program says it.
static std::optional<int64_t> staticTrips(scf::ForOp loop) {
  std::optional<int64_t> from = constantOf(loop.getLowerBound()), to = constantOf(loop.getUpperBound()),
                         by = constantOf(loop.getStep());
  int64_t distance;
  if (!from || !to || !by || *by <= 0 || llvm::SubOverflow(*to, *from, distance))
    return std::nullopt;
  return distance <= 0 ? 0 : (distance - 1) / *by + 1;
}

// Work that has no bound: what waits for the host, and loops of unknown length.
static constexpr int64_t kUnbounded = kWorkBetweenPolls;
// A launch that is short takes longer than its elements say.
static constexpr int64_t kWorkOfLaunch = 256;

static int64_t capped(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? kUnbounded : std::min(product, kUnbounded);
}

int64_t HostEmitter::workOf(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return std::max(kWorkOfLaunch, workOf(launch));
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<int64_t> trips = staticTrips(loop);
    return trips ? capped(*trips, workOf(*loop.getBody())) : kUnbounded;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    int64_t work = 1;
    for (Region &region : branch->getRegions())
      work += region.empty() ? 0 : workOf(region.front());
    return std::min(work, kUnbounded);
  }
  bool waits =
      op.getNumRegions() > 0 || isa<FeedOp, ReceiveOp>(op) || op.getName().getDialectNamespace() == "check";
  return waits ? kUnbounded : 1;
}

int64_t HostEmitter::workOf(Block &block) {
  int64_t work = 1;
  for (Operation &op : block)
    work = std::min(work + workOf(op), kUnbounded);
  return work;
}

int64_t HostEmitter::stripOf(int64_t work) const { return options.device ? 1 : kUnbounded / work; }

// What the loop carries has one place, which starts as what it is given.
SmallVector<HostEmitter::HostTensor> HostEmitter::placeCarries(scf::ForOp loop) {
  SmallVector<HostTensor> carries;
  for (auto [i, init, argument] : llvm::enumerate(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    carries.push_back(placeCarry(argument, init, bufferNumber(loop, i)));
    tensors[loop.getResult(i)] = carries.back();
  }
  return carries;
}

LogicalResult HostEmitter::emitFor(scf::ForOp loop) {
  reportTurns(loop);
  ForCarries carries{placeCarries(loop), loweredScalars(loop.getInitArgs())};
  int64_t work = workOf(*loop.getBody()), strip = stripOf(work);
  std::optional<int64_t> trips = staticTrips(loop);
  constexpr unsigned leastWidth = 32; // the number of iterations of a strip has to fit
  Type index = loop.getInductionVar().getType();
  if (strip < 2 || (index.isInteger() && index.getIntOrFloatBitWidth() < leastWidth))
    return emitWholeFor(loop, carries, Polls::inEachIteration);
  if (trips && *trips <= strip) {
    pollBefore(capped(*trips, work));
    return emitWholeFor(loop, carries, Polls::outside);
  }
  return emitStrips(loop, carries, strip, work);
}

// Without strips the loop keeps its bounds.
LogicalResult HostEmitter::emitWholeFor(scf::ForOp loop, const ForCarries &carries, Polls polls) {
  auto mapped = [&](Value value) { return scalars.lookupOrDefault(value); };
  auto lowered = scf::ForOp::create(builder, loc, mapped(loop.getLowerBound()), mapped(loop.getUpperBound()),
                                    mapped(loop.getStep()), carries.scalars);
  int64_t after = std::exchange(workSincePoll, 0);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(lowered.getBody());
  if (polls == Polls::inEachIteration)
    poll();
  if (failed(emitIteration(loop, lowered, lowered.getInductionVar(), carries)))
    return failure();
  if (polls == Polls::outside)
    workSincePoll = after; // all iterations are counted in it
  bindScalars(loop.getResults(), lowered.getResults());
  return success();
}

// The iteration of `loop` with this index, in the body of the loop that was made of it.
LogicalResult HostEmitter::emitIteration(scf::ForOp loop, scf::ForOp lowered, Value index,
                                         const ForCarries &carries) {
  SmallVector<int64_t> swaps(loop->getAttrOfType<DenseI64ArrayAttr>("ad.swap").asArrayRef());
  scalars.map(loop.getInductionVar(), index);
  bindScalars(loop.getRegionIterArgs(), lowered.getRegionIterArgs());
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  loc = loop.getLoc();
  yieldTensors(loop.getYieldedValues(), carries.tensors, swaps);
  // A loop without carries of its own already has its terminator.
  if (SmallVector<Value> next = loweredScalars(loop.getYieldedValues()); !next.empty())
    scf::YieldOp::create(builder, loc, next);
  return success();
}

// Iterations are counted from 0, without a sign: the distance of the bounds may be any number of 64 bits.
Value HostEmitter::tripCount(scf::ForOp loop) {
  Value lower = scalars.lookupOrDefault(loop.getLowerBound()),
        upper = scalars.lookupOrDefault(loop.getUpperBound()), step = scalars.lookupOrDefault(loop.getStep());
  Value distance = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
  Value trips = builder.createOrFold<arith::CeilDivUIOp>(loc, distance, step);
  Value any = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lower, upper);
  Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(trips.getType()));
  return builder.createOrFold<arith::SelectOp>(loc, any, trips, none);
}

LogicalResult HostEmitter::emitStrips(scf::ForOp loop, const ForCarries &carries, int64_t strip,
                                      int64_t work) {
  Type type = loop.getInductionVar().getType();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  auto makeLoop = [&](Value from, Value to, Value by, ValueRange carried) {
    return scf::ForOp::create(builder, loc, from, to, by, carried, nullptr, /*unsignedCmp=*/true);
  };
  Value zero = number(0), one = number(1), trips = tripCount(loop), whole = number(strip);
  auto strips = makeLoop(zero, trips, whole, carries.scalars);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(strips.getBody());
  poll();
  Value first = strips.getInductionVar();
  Value left = arith::SubIOp::create(builder, loc, trips, first);
  Value count = arith::MinUIOp::create(builder, loc, left, whole);
  auto inner = makeLoop(zero, count, one, strips.getRegionIterArgs());
  if (!carries.scalars.empty())
    scf::YieldOp::create(builder, loc, inner.getResults());
  builder.setInsertionPointToStart(inner.getBody());
  Value trip = arith::AddIOp::create(builder, loc, first, inner.getInductionVar());
  Value offset = arith::MulIOp::create(builder, loc, trip, scalars.lookupOrDefault(loop.getStep()));
  Value index = arith::AddIOp::create(builder, loc, scalars.lookupOrDefault(loop.getLowerBound()), offset);
  if (failed(emitIteration(loop, inner, index, carries)))
    return failure();
  workSincePoll = strip * work;
  bindScalars(loop.getResults(), strips.getResults());
  return success();
}
