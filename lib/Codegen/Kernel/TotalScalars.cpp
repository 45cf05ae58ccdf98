// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Kernel/TotalScalars.h"
#include "TotalConversions.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/ScalarFlags.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// The builder and location of one operation on integers or indices of one type.
struct Integers {
  OpBuilder builder;
  Location loc;
  Type type;

  explicit Integers(Operation *op) : builder(op), loc(op->getLoc()), type(op->getResult(0).getType()) {}

  int64_t width() { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }
  Value number(int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value select(Value condition, Value onTrue, Value onFalse) {
    return arith::SelectOp::create(builder, loc, condition, onTrue, onFalse);
  }
};
} // namespace

// Upstream's conversion of it does not know indices.
static bool addWithOverflow(Operation *op) {
  auto add = dyn_cast<arith::AddUIExtendedOp>(op);
  if (!add)
    return false;
  Integers s(op);
  Value sum = arith::AddIOp::create(s.builder, s.loc, add.getLhs(), add.getRhs());
  add->replaceAllUsesWith(ValueRange{sum, s.compare(arith::CmpIPredicate::ult, sum, add.getLhs())});
  add->erase();
  return true;
}

static bool isOnTensors(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
}

// All uses of `op` but that by `made`, which is computed from it.
static void replaceUses(Operation *op, Value made) {
  op->getResult(0).replaceAllUsesExcept(made, made.getDefiningOp());
}

static bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}
static bool isUnsignedDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

// Numbers of one bit have one divisor, which is 1 or -1.
static bool divideBits(Operation *op) {
  if (!(isSignedDivision(op) || isUnsignedDivision(op)) || !op->getResult(0).getType().isInteger(1))
    return false;
  Value result = isa<arith::RemSIOp, arith::RemUIOp>(op) ? Integers(op).number(0) : op->getOperand(0);
  op->replaceAllUsesWith(ValueRange(result));
  op->erase();
  return true;
}

// CPUs trap at a quotient that does not exist, in masked lanes too.
static void divide(Operation *op) {
  bool isRemainder = isa<arith::RemSIOp>(op), isSigned = isSignedDivision(op);
  if (!isSigned && !isUnsignedDivision(op))
    return;
  Value lhs = op->getOperand(0), divisor = op->getOperand(1);
  if (std::optional<int64_t> known = getConstantIntValue(divisor); known && *known != 0 && *known != -1)
    return;
  Integers s(op);
  Value one = s.number(1), zero = s.number(0);
  Value safe = s.select(s.compare(arith::CmpIPredicate::eq, divisor, zero), one, divisor);
  if (!isSigned)
    return op->setOperand(1, safe);
  Value byMinusOne = s.compare(arith::CmpIPredicate::eq, divisor, s.number(-1));
  op->setOperand(1, s.select(byMinusOne, one, safe));
  Value negated = isRemainder ? zero : arith::SubIOp::create(s.builder, s.loc, zero, lhs);
  s.builder.setInsertionPointAfter(op);
  Value result = s.select(byMinusOne, negated, op->getResult(0));
  replaceUses(op, result);
}

static void shift(Operation *op) {
  if (!isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op))
    return;
  Integers s(op);
  Value bits = op->getOperand(1), last = s.number(s.width() - 1);
  if (std::optional<int64_t> known = getConstantIntValue(bits); known && *known >= 0 && *known < s.width())
    return;
  Value tooFar = s.compare(arith::CmpIPredicate::ugt, bits, last);
  op->setOperand(1, s.select(tooFar, last, bits));
  if (isa<arith::ShRSIOp>(op))
    return;
  Value zero = s.number(0);
  s.builder.setInsertionPointAfter(op);
  Value result = s.select(tooFar, zero, op->getResult(0));
  replaceUses(op, result);
}

// A number rather than NaN; maximumf and minimumf say which zero is larger.
static bool chooseNumber(Operation *op) {
  if (!isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
    return false;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto isNaN = [&](Value x) -> Value {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  };
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  Value a = arith::SelectOp::create(builder, loc, isNaN(lhs), rhs, lhs);
  Value b = arith::SelectOp::create(builder, loc, isNaN(rhs), lhs, rhs);
  Value chosen = isa<arith::MaxNumFOp>(op) ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                                           : arith::MinimumFOp::create(builder, loc, a, b).getResult();
  op->replaceAllUsesWith(ValueRange(chosen));
  op->erase();
  return true;
}

// The sign of a NaN is not in the contract, and differs between targets: it counts as positive.
static void copySign(Operation *op) {
  auto copy = dyn_cast<math::CopySignOp>(op);
  if (!copy)
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value sign = copy.getRhs();
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, sign, sign);
  Value positive = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(sign.getType(), 1.0));
  copy.getRhsMutable().assign(arith::SelectOp::create(builder, loc, isNaN, positive, sign).getResult());
}

// Some CPUs flush subnormal numbers in operations on 16 bits. There is one rounding to their type, as in ad.
// Gives the operation that computes.
static Operation *computeInF32(Operation *op) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp,
           arith::MinimumFOp, arith::MaximumFOp, arith::MinNumFOp, arith::MaxNumFOp, arith::CmpFOp>(op) &&
      !isa<math::AbsFOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::SqrtOp>(op))
    return op;
  if (!isShortFloat(op->getOperand(0).getType()))
    return op;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  IRMapping wide;
  for (Value operand : op->getOperands())
    if (!wide.contains(operand))
      wide.map(operand, ConvertOp::create(builder, loc, builder.getF32Type(), operand).getResult());
  Operation *computed = builder.clone(*op, wide);
  Value result = computed->getResult(0);
  if (!isa<arith::CmpFOp>(op)) {
    result.setType(builder.getF32Type());
    result = ConvertOp::create(builder, loc, op->getResult(0).getType(), result);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return computed;
}

void ad::makeTotal(Operation *op, ShortFloats shortFloats) {
  if (isOnTensors(op))
    return;
  dropScalarFlags(op);
  if (makeConversionTotal(op) || addWithOverflow(op))
    return;
  if (shortFloats == ShortFloats::inF32)
    op = computeInF32(op);
  if (chooseNumber(op) || divideBits(op))
    return;
  divide(op);
  shift(op);
  copySign(op);
}
