// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions of arith in terms of ad.convert, which is defined for all operands, but knows signed integers
// of the element types only.

#include "TotalConversions.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr unsigned kMaxWidth = 64;

bool ad::isShortFloat(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }

namespace {
class ConversionBuilder {
public:
  explicit ConversionBuilder(Operation *op)
      : builder(op), loc(op->getLoc()), x(op->getOperand(0)), from(x.getType()),
        to(op->getResult(0).getType()) {}

  Value floatToFloat() { return convert(x, to); }
  Value floatToInteger(bool isSigned);
  Value integerToFloat(bool isSigned);
  Value bits();

private:
  template <class OpT, class... Args> Value make(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...);
  }
  Value convert(Value value, Type type) { return make<ConvertOp>(type, value); }
  Value constant(Type type, const APInt &value) {
    return make<arith::ConstantOp>(builder.getIntegerAttr(type, value));
  }
  Value constant(Type type, int64_t value) {
    return make<arith::ConstantOp>(builder.getIntegerAttr(type, value));
  }
  Value floatToUnsigned64(Value wide);
  Value unsigned64ToFloat();

  OpBuilder builder;
  Location loc;
  Value x;
  Type from, to;
};
} // namespace

/// A signed integer type that ad.convert knows.
static bool isConvertible(Type type) { return type.isInteger(8) || type.isInteger(32) || type.isInteger(64); }

// The range of a narrower type is a part of that of i64.
Value ConversionBuilder::floatToInteger(bool isSigned) {
  if (isSigned && isConvertible(to))
    return convert(x, to);
  unsigned width = to.getIntOrFloatBitWidth();
  if (width == kMaxWidth)
    return floatToUnsigned64(isShortFloat(from) ? convert(x, builder.getF32Type()) : x);
  Type wide = builder.getI64Type();
  APInt least = isSigned ? APInt::getSignedMinValue(width).sext(kMaxWidth) : APInt::getZero(kMaxWidth);
  APInt most =
      isSigned ? APInt::getSignedMaxValue(width).sext(kMaxWidth) : APInt::getMaxValue(width).zext(kMaxWidth);
  Value number = make<arith::MaxSIOp>(convert(x, wide), constant(wide, least));
  return make<arith::TruncIOp>(to, make<arith::MinSIOp>(number, constant(wide, most)));
}

// From 2^63 on, x - 2^63 is exact, and saturates as x does.
Value ConversionBuilder::floatToUnsigned64(Value wide) {
  Value top = make<arith::ConstantOp>(builder.getFloatAttr(wide.getType(), 0x1p63));
  Value isAbove = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, wide, top);
  Value rest = make<arith::SelectOp>(isAbove, make<arith::SubFOp>(wide, top), wide);
  Value number = make<arith::MaxSIOp>(convert(rest, to), constant(to, 0));
  Value sum = make<arith::XOrIOp>(number, constant(to, APInt::getSignedMinValue(kMaxWidth)));
  return make<arith::SelectOp>(isAbove, sum, number);
}

Value ConversionBuilder::integerToFloat(bool isSigned) {
  unsigned width = from.getIntOrFloatBitWidth();
  if (!isSigned && width == kMaxWidth)
    return unsigned64ToFloat();
  if (isSigned && isConvertible(from))
    return convert(x, to);
  Type wide = builder.getIntegerType(width < 32 ? 32 : kMaxWidth);
  return convert(isSigned ? make<arith::ExtSIOp>(wide, x) : make<arith::ExtUIOp>(wide, x), to);
}

// Half of a number of 2^63 and more, with what that loses in the last bit, is rounded as the number is.
Value ConversionBuilder::unsigned64ToFloat() {
  Value one = constant(from, 1);
  Value half = make<arith::OrIOp>(make<arith::ShRUIOp>(x, one), make<arith::AndIOp>(x, one));
  Value isLarge = make<arith::CmpIOp>(arith::CmpIPredicate::slt, x, constant(from, 0));
  Value number = convert(make<arith::SelectOp>(isLarge, half, x), to);
  Value computed = convert(number, builder.getF32Type());
  Value doubled = convert(make<arith::AddFOp>(computed, computed), to);
  return make<arith::SelectOp>(isLarge, doubled, number);
}

// The bits of a NaN are not in the contract, and differ between targets: one pattern stands for all.
Value ConversionBuilder::bits() {
  auto element = cast<FloatType>(from);
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  Type integer = builder.getIntegerType(element.getWidth());
  // Numbers have smaller magnitudes than NaN.
  bool hasInfinity = APFloat::semanticsHasInf(semantics);
  APFloat last = hasInfinity ? APFloat::getInf(semantics) : APFloat::getLargest(semantics);
  Value written = make<arith::BitcastOp>(integer, x);
  Value magnitude =
      make<arith::AndIOp>(written, constant(integer, APInt::getSignedMaxValue(element.getWidth())));
  Value isNaN =
      make<arith::CmpIOp>(arith::CmpIPredicate::ugt, magnitude, constant(integer, last.bitcastToAPInt()));
  Value nan = constant(integer, APFloat::getQNaN(semantics).bitcastToAPInt());
  Value kept = make<arith::SelectOp>(isNaN, nan, written);
  return to == integer ? kept : make<arith::BitcastOp>(to, kept);
}

static Value totalOf(Operation *op) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  ConversionBuilder build(op);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return isShortFloat(from) || isShortFloat(to) ? build.floatToFloat() : Value();
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return isShortFloat(to) ? build.integerToFloat(isa<arith::SIToFPOp>(op)) : Value();
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return build.floatToInteger(isa<arith::FPToSIOp>(op));
  return isa<arith::BitcastOp>(op) && isa<FloatType>(from) ? build.bits() : Value();
}

bool ad::makeConversionTotal(Operation *op) {
  Value total = op->getNumOperands() == 1 && op->getNumResults() == 1 ? totalOf(op) : Value();
  if (!total)
    return false;
  op->replaceAllUsesWith(ValueRange(total));
  op->erase();
  return true;
}
