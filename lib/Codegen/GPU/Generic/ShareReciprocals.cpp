// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ShareReciprocals.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ad;

// Quotients that share a branch, and the divisions of one block that pay for a reciprocal.
static constexpr size_t kMaxGroup = 4;
static constexpr int64_t kMinDivisions = 8;
// Divisors whose reciprocals are normal, and quotients whose remainders are exact: with |a / b| >= 2^-100 and
// |a| >= 2^-100, no step below underflows. Quotients below the bounds are divided.
static constexpr double kLowestDivisor = 0x1p-60, kHighestDivisor = 0x1p60;
static constexpr double kLowestQuotient = 0x1p-100, kLowestDividend = 0x1p-99;
// The bits of a dividend whose quotient is NaN either way.
static constexpr int64_t kNaN = 0x7FFFFFFF;

namespace {
/// 1 / b = high + low with a relative error below 2^-46; high is rounded to nearest.
struct Reciprocal {
  Value high, low, negatedDivisor;
  Value lowest; // the magnitude of the smallest quotient that is computed from it; NaN: none is
  Value zero;   // the bits of a dividend whose quotient is computed from it, too: those of 0 or of a NaN
};

class ReciprocalSharing {
public:
  void run(Block &block);

private:
  using Group = SmallVector<arith::DivFOp>;

  const Reciprocal &reciprocalOf(Value divisor);
  void makeGroup(Group &group);

  llvm::DenseMap<Value, Reciprocal> reciprocals; // by divisor
};
} // namespace

static Value constant(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

// Whether the block is the body of a loop in front of which the divisor is known.
static bool repeatsAfter(Value divisor, Block &block) {
  auto loop = dyn_cast<scf::ForOp>(block.getParentOp());
  return loop && !loop.getRegion().isAncestor(divisor.getParentRegion());
}

// Without permission for another quotient, which is shorter still.
static bool isExact(arith::DivFOp division) {
  using Flags = arith::FastMathFlags;
  return division.getType().isF32() && !bitEnumContainsAny(division.getFastmath(), Flags::arcp | Flags::afn);
}

static bool reads(Operation &op, ArrayRef<arith::DivFOp> group) {
  return op
      .walk([&](Operation *inner) {
        bool found = llvm::any_of(inner->getOperands(), [&](Value operand) {
          return llvm::is_contained(group, operand.getDefiningOp<arith::DivFOp>());
        });
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

const Reciprocal &ReciprocalSharing::reciprocalOf(Value divisor) {
  auto [known, isNew] = reciprocals.try_emplace(divisor);
  if (!isNew)
    return known->second;
  OpBuilder builder(divisor.getContext());
  builder.setInsertionPointAfterValue(divisor);
  Location loc = divisor.getLoc();
  Value one = constant(builder, loc, 1.0);
  Value high = arith::DivFOp::create(builder, loc, one, divisor);
  Value negated = arith::NegFOp::create(builder, loc, divisor);
  Value rest = math::FmaOp::create(builder, loc, negated, high, one);
  Value low = arith::MulFOp::create(builder, loc, rest, high);
  Value magnitude = math::AbsFOp::create(builder, loc, divisor);
  auto isBeyond = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, magnitude, constant(builder, loc, bound));
  };
  Value isOutside = arith::OrIOp::create(builder, loc, isBeyond(arith::CmpFPredicate::ULT, kLowestDivisor),
                                         isBeyond(arith::CmpFPredicate::UGT, kHighestDivisor));
  Value ofDividend = arith::MulFOp::create(builder, loc, math::AbsFOp::create(builder, loc, high),
                                           constant(builder, loc, kLowestDividend));
  Value lowest = arith::MaximumFOp::create(builder, loc, ofDividend, constant(builder, loc, kLowestQuotient));
  Value never = constant(builder, loc, std::numeric_limits<double>::quiet_NaN());
  lowest = arith::SelectOp::create(builder, loc, isOutside, never, lowest);
  Value isNegative =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, divisor, constant(builder, loc, 0.0));
  Value zero =
      arith::SelectOp::create(builder, loc, arith::OrIOp::create(builder, loc, isOutside, isNegative),
                              arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), kNaN),
                              arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0));
  return known->second = {high, low, negated, lowest, zero};
}

static Value isLow(OpBuilder &builder, Location loc, Value quotient, const Reciprocal &divisor) {
  Value magnitude = math::AbsFOp::create(builder, loc, quotient);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ULT, magnitude, divisor.lowest);
}

// Whether one of the low quotients is not that of the dividend +0.
static Value needsDivision(OpBuilder &builder, Location loc, MutableArrayRef<arith::DivFOp> group,
                           ValueRange quotients, const Reciprocal &divisor) {
  Value isNeeded;
  for (auto [division, quotient] : llvm::zip_equal(group, quotients)) {
    Value bits = arith::BitcastOp::create(builder, loc, builder.getI32Type(), division.getLhs());
    Value isOther = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bits, divisor.zero);
    Value isOne = arith::AndIOp::create(builder, loc, isLow(builder, loc, quotient, divisor), isOther);
    isNeeded = isNeeded ? arith::OrIOp::create(builder, loc, isNeeded, isOne).getResult() : isOne;
  }
  return isNeeded;
}

// The quotient of a * high + a * low is less than one unit in the last place off, so that the remainder is
// exact and its correction rounds like a division (Markstein 1990; Brisebarre, Muller, Raina 2004). Infinite
// and unordered quotients, and those whose steps may underflow, are divided. With a positive divisor a
// dividend of +0 has only steps of zeros, the last sums of which are +0: rows with a mask have many.
void ReciprocalSharing::makeGroup(Group &group) {
  const Reciprocal divisor = reciprocalOf(group.front().getRhs());
  OpBuilder builder(group.back());
  Location loc = group.back().getLoc();
  SmallVector<Value> quotients;
  Value isRare;
  for (arith::DivFOp division : group) {
    Value dividend = division.getLhs();
    Value quotient = math::FmaOp::create(builder, loc, dividend, divisor.high,
                                         arith::MulFOp::create(builder, loc, dividend, divisor.low));
    Value remainder = math::FmaOp::create(builder, loc, divisor.negatedDivisor, quotient, dividend);
    quotients.push_back(math::FmaOp::create(builder, loc, remainder, divisor.high, quotient));
    Value isOne = isLow(builder, loc, quotients.back(), divisor);
    isRare = isRare ? arith::OrIOp::create(builder, loc, isRare, isOne).getResult() : isOne;
  }
  auto yieldQuotients = [&](OpBuilder &inner, Location at) { scf::YieldOp::create(inner, at, quotients); };
  auto divide = [&](OpBuilder &inner, Location at) {
    scf::YieldOp::create(inner, at, llvm::map_to_vector(group, [&](arith::DivFOp division) -> Value {
                           return arith::DivFOp::create(inner, at, division.getLhs(), division.getRhs());
                         }));
  };
  auto divideUnlessZeros = [&](OpBuilder &inner, Location at) {
    Value isNeeded = needsDivision(inner, at, group, quotients, divisor);
    auto rare = scf::IfOp::create(inner, at, isNeeded, divide, yieldQuotients);
    scf::YieldOp::create(inner, at, rare.getResults());
  };
  auto branch = scf::IfOp::create(builder, loc, isRare, divideUnlessZeros, yieldQuotients);
  for (auto [division, result] : llvm::zip_equal(group, branch.getResults())) {
    division.replaceAllUsesWith(result);
    division->erase();
  }
}

// A group is where its last division was: nothing between reads the first ones.
void ReciprocalSharing::run(Block &block) {
  llvm::MapVector<Value, int64_t> counts;
  for (auto division : block.getOps<arith::DivFOp>())
    counts[division.getRhs()] += isExact(division);
  Group open;
  auto close = [&] {
    if (open.size() > 1)
      makeGroup(open);
    open.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!open.empty() && reads(op, open))
      close();
    auto division = dyn_cast<arith::DivFOp>(op);
    if (!division || !isExact(division))
      continue;
    Value divisor = division.getRhs();
    if (counts[divisor] < kMinDivisions && !repeatsAfter(divisor, block))
      continue;
    if (!open.empty() && open.front().getRhs() != divisor)
      close();
    open.push_back(division);
    if (open.size() == kMaxGroup)
      close();
  }
  close();
}

void device::shareReciprocals(::mlir::gpu::GPUFuncOp function) {
  SmallVector<Block *> blocks;
  function.walk([&](Block *block) { blocks.push_back(block); });
  ReciprocalSharing sharing;
  for (Block *block : blocks)
    sharing.run(*block);
}
