// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

// The widest type of an index.
static constexpr unsigned kWidth = 64;

// Wide enough for products of two numbers of 64 bits and their sums, with a sign.
static constexpr unsigned kExact = 2 * kWidth + 2;

static APInt exactly(const APInt &number, bool isUnsigned) {
  return isUnsigned ? number.zext(kExact) : number.sext(kExact);
}

uint64_t ad::LoopRange::tripCount() const {
  assert(hasPositiveStep() && lower.getBitWidth() <= kWidth && "expected a loop that advances");
  APInt distance = exactly(upper, isUnsigned) - exactly(lower, isUnsigned);
  if (!distance.isStrictlyPositive())
    return 0;
  return llvm::APIntOps::RoundingUDiv(distance, exactly(step, isUnsigned), APInt::Rounding::UP)
      .getZExtValue();
}

bool ad::LoopRange::lastStepFits() const {
  APInt end = exactly(lower, isUnsigned) + APInt(kExact, tripCount()) * exactly(step, isUnsigned);
  return isUnsigned ? end.isIntN(lower.getBitWidth()) : end.isSignedIntN(lower.getBitWidth());
}

std::optional<ad::LoopRange> ad::staticRange(scf::ForOp loop) {
  LoopRange range{APInt(), APInt(), APInt(), loop.getUnsignedCmp()};
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&range.lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&range.upper)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&range.step)))
    return std::nullopt;
  if (range.lower.getBitWidth() > kWidth || !range.hasPositiveStep())
    return std::nullopt;
  return range;
}

std::optional<uint64_t> ad::staticTripCount(scf::ForOp loop) {
  std::optional<LoopRange> range = staticRange(loop);
  return range ? std::optional(range->tripCount()) : std::nullopt;
}

// The number as an index, or as an i64. Both have 64 bits.
static Value widen(OpBuilder &builder, Location loc, Value number, bool isUnsigned) {
  Type type = number.getType(), wide = builder.getI64Type();
  if (type.isIndex() || type == wide)
    return number;
  return isUnsigned ? builder.createOrFold<arith::ExtUIOp>(loc, wide, number)
                    : builder.createOrFold<arith::ExtSIOp>(loc, wide, number);
}

// A distance of numbers of 64 bits is a number of 64 bits without sign.
Value ad::emitTripCount(OpBuilder &builder, Location loc, Value lower, Value upper, Value step,
                        bool isUnsigned) {
  lower = widen(builder, loc, lower, isUnsigned);
  upper = widen(builder, loc, upper, isUnsigned);
  step = widen(builder, loc, step, isUnsigned);
  Value distance = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
  Value trips = builder.createOrFold<arith::CeilDivUIOp>(loc, distance, step);
  auto predicate = isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value any = builder.createOrFold<arith::CmpIOp>(loc, predicate, lower, upper);
  Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(trips.getType()));
  return builder.createOrFold<arith::SelectOp>(loc, any, trips, none);
}

// Wraps to the width of the type, where the sum is right.
Value ad::emitLoopIndex(OpBuilder &builder, Location loc, Value lower, Value step, Value trip) {
  if (trip.getType() != lower.getType())
    trip = arith::TruncIOp::create(builder, loc, lower.getType(), trip);
  Value offset = arith::MulIOp::create(builder, loc, trip, step);
  return arith::AddIOp::create(builder, loc, lower, offset);
}
