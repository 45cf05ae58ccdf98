// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Kernel/TotalScalars.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

static bool isOnTensors(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
}

// Only the attributes of the kernel or the program permit rewrites of numbers. Flags that promise no overflow
// hold for the written order of a sum only.
static void dropFlags(Operation *op) {
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(flags.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::none));
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(flags.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::none));
}

// All uses of `op` but that by `made`, which is computed from it.
static void replaceUses(Operation *op, Value made) {
  op->getResult(0).replaceAllUsesExcept(made, made.getDefiningOp());
}

// CPUs trap at a quotient that does not exist, in masked lanes too.
static void divide(Operation *op) {
  bool isRemainder = isa<arith::RemSIOp>(op);
  bool isSigned = isRemainder || isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  if (!isSigned && !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
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

static bool isShort(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }

static bool convert(Operation *op) {
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp>(op))
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (!isa<arith::FPToSIOp>(op) && !isShort(from) && !isShort(to))
    return false;
  OpBuilder builder(op);
  Value x = op->getOperand(0);
  if (isa<arith::SIToFPOp>(op) && from.isInteger(1)) // -1 here, but 1 for ad.cast
    x = arith::ExtSIOp::create(builder, op->getLoc(), builder.getI8Type(), x);
  op->replaceAllUsesWith(ConvertOp::create(builder, op->getLoc(), to, x));
  op->erase();
  return true;
}

// Some CPUs flush subnormal numbers in operations on 16 bits. There is one rounding to their type, as in ad.
static bool computeInF32(Operation *op) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp,
           arith::MinimumFOp, arith::MaximumFOp, arith::CmpFOp>(op) ||
      !isShort(op->getOperand(0).getType()))
    return false;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  IRMapping wide;
  for (Value operand : op->getOperands())
    if (!wide.contains(operand))
      wide.map(operand, ConvertOp::create(builder, loc, builder.getF32Type(), operand).getResult());
  Value result = builder.clone(*op, wide)->getResult(0);
  if (!isa<arith::CmpFOp>(op)) {
    result.setType(builder.getF32Type());
    result = ConvertOp::create(builder, loc, op->getResult(0).getType(), result);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

void ad::makeTotal(Operation *op, ShortFloats shortFloats) {
  if (isOnTensors(op))
    return;
  dropFlags(op);
  if (convert(op) || (shortFloats == ShortFloats::inF32 && computeInF32(op)))
    return;
  divide(op);
  shift(op);
}
