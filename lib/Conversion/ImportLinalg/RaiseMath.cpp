// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of `math`. Functions that `ad` has are its own; others are made of these, with the formulas of
// the Python package, and 16- and 8-bit floats are then computed in f32 and rounded once.

#include "RaiseScalars.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::ad;
using P = ComparePredicate;

static Value sqrtOf(TensorCode code, Value x) { return code.unary<SqrtOp>(x); }
static Value addNumber(TensorCode code, Value x, double y) { return code.add(x, code.number(x, y)); }
static Value timesNumber(TensorCode code, Value x, double y) { return code.mul(x, code.number(x, y)); }
static Value isBelow(TensorCode code, Value x, double y) { return code.compare(P::lt, x, code.number(x, y)); }

//===- Signs and rounding -===//

// The sign of a zero is that of its reciprocal. 8-bit floats have no infinity for it.
static Value signBit(TensorCode code, Value x) {
  Value wide = code.cast(x, computeType(TensorCode::elementOf(x)));
  Value isZero = code.compare(P::eq, wide, code.number(wide, 0.0));
  return code.isNegative(code.select(isZero, code.unary<RecipOp>(wide), wide));
}

static Value copySign(TensorCode code, Value magnitude, Value sign) {
  Value positive = code.abs(magnitude);
  return code.select(signBit(code, sign), code.neg(positive), positive);
}

static Value truncate(TensorCode code, Value x) {
  return code.select(code.isNegative(x), code.unary<CeilOp>(x), code.unary<FloorOp>(x));
}

// Halves go away from zero.
static Value roundAway(TensorCode code, Value x) {
  Value whole = truncate(code, x), rest = code.abs(code.sub(x, whole));
  Value away = code.add(whole, code.select(code.isNegative(x), code.number(x, -1.0), code.number(x, 1.0)));
  return code.select(isBelow(code, rest, 0.5), whole, code.select(code.isNaN(rest), whole, away));
}

// In f64, which holds every i32 and tells odd exponents from even ones up to 2^53; beyond, all of its numbers
// are even.
static Value powerOfInteger(TensorCode code, Value x, Value exponent) {
  Type f64 = code.builder.getF64Type();
  Value power = code.binary<PowOp>(code.cast(x, f64), code.cast(exponent, f64));
  if (TensorCode::elementOf(exponent).isInteger(64)) {
    constexpr int64_t exact = int64_t(1) << 53;
    Value isLarge = code.bitOr(code.compare(P::gt, exponent, code.integer(exponent, exact)),
                               code.compare(P::lt, exponent, code.integer(exponent, -exact)));
    Value lowest = code.bitAnd(exponent, code.integer(exponent, 1));
    Value isOdd = code.compare(P::eq, lowest, code.integer(exponent, 1));
    Value isFlipped = code.bitAnd(code.bitAnd(isLarge, isOdd), signBit(code, x));
    power = code.select(isFlipped, code.neg(power), power);
  }
  return code.cast(power, TensorCode::elementOf(x));
}

//===- Functions made of those of `ad` -===//

// exp(x) / 2, which is finite where exp(x) is not. Large x - 1 are exact.
static Value halfExp(TensorCode code, Value x) {
  return timesNumber(code, code.unary<ExpOp>(addNumber(code, x, -1.0)), std::exp(1.0) / 2);
}

static Value smallSinh(TensorCode code, Value x) {
  Value above = code.unary<Expm1Op>(x);
  return timesNumber(code, code.add(above, code.div(above, addNumber(code, above, 1.0))), 0.5);
}

// What is not taken gets a number with finite slopes, since the product of zero and an infinite slope is NaN.
static Value where(TensorCode code, Value condition, Value x, double other) {
  return code.select(condition, x, code.number(x, other));
}

static Value sinh(TensorCode code, Value x) {
  Value isSmall = isBelow(code, code.abs(x), 1.0);
  Value large = code.sub(halfExp(code, x), halfExp(code, code.neg(x)));
  return code.select(isSmall, smallSinh(code, where(code, isSmall, x, 0.0)), large);
}

static Value cosh(TensorCode code, Value x) {
  Value isSmall = isBelow(code, code.abs(x), 1.0);
  Value half = smallSinh(code, timesNumber(code, where(code, isSmall, x, 0.0), 0.5));
  Value small = addNumber(code, timesNumber(code, code.mul(half, half), 2.0), 1.0);
  return code.select(isSmall, small, code.add(halfExp(code, x), halfExp(code, code.neg(x))));
}

// From here on, a square plus 1 is the square, and the square is a number.
static Value isLarge(TensorCode code, Value x) {
  return code.compare(P::gt, x, code.number(x, TensorCode::elementOf(x).isF64() ? 1e9 : 1e6));
}

static Value logOfDouble(TensorCode code, Value x) {
  return addNumber(code, code.unary<LogOp>(x), std::log(2.0));
}

static Value asinh(TensorCode code, Value x) {
  Value side = code.select(code.isNegative(x), code.number(x, -1.0), code.number(x, 1.0));
  Value magnitude = code.mul(x, side), large = isLarge(code, magnitude);
  Value near = code.select(large, code.number(x, 1.0), magnitude), far = where(code, large, magnitude, 2.0);
  Value square = code.mul(near, near);
  Value root = addNumber(code, sqrtOf(code, addNumber(code, square, 1.0)), 1.0);
  Value small = code.unary<Log1pOp>(code.add(near, code.div(square, root)));
  Value made = code.mul(code.select(large, logOfDouble(code, far), small), side);
  return code.select(code.compare(P::eq, x, code.number(x, 0.0)), x, made);
}

static Value acosh(TensorCode code, Value x) {
  Value large = isLarge(code, x);
  Value near = code.select(large, code.number(x, 2.0), x), far = where(code, large, x, 2.0);
  Value less = addNumber(code, near, -1.0);
  Value roots = code.mul(sqrtOf(code, less), sqrtOf(code, addNumber(code, near, 1.0)));
  return code.select(large, logOfDouble(code, far), code.unary<Log1pOp>(code.add(less, roots)));
}

static Value atanh(TensorCode code, Value x) {
  return timesNumber(code, code.sub(code.unary<Log1pOp>(x), code.unary<Log1pOp>(code.neg(x))), 0.5);
}

// The side of a right triangle with the hypotenuse 1.
static Value otherSide(TensorCode code, Value x) {
  Value less = code.sub(code.number(x, 1.0), x);
  return sqrtOf(code, code.mul(less, addNumber(code, x, 1.0)));
}

// One step of Newton's method after the power, whose exponent is no third. Zeros, infinities and NaN are
// their own roots.
static Value cubeRoot(TensorCode code, Value x) {
  Value isPlain = code.bitAnd(code.unary<IsFiniteOp>(x), code.compare(P::ne, x, code.number(x, 0.0)));
  Value magnitude = where(code, isPlain, code.abs(x), 1.0);
  Value root = code.binary<PowOp>(magnitude, code.number(x, 1.0 / 3.0));
  Value square = code.mul(root, root);
  Value error = code.div(code.sub(code.mul(square, root), magnitude), timesNumber(code, square, 3.0));
  Value better = code.sub(root, error);
  return code.select(isPlain, code.select(code.isNegative(x), code.neg(better), better), x);
}

static Value composed(TensorCode code, Operation *op, Value x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::AtanOp) { return code.binary<Atan2Op>(x, code.number(x, 1.0)); })
      .Case([&](math::AsinOp) { return code.binary<Atan2Op>(x, otherSide(code, x)); })
      .Case([&](math::AcosOp) { return code.binary<Atan2Op>(otherSide(code, x), x); })
      .Case([&](math::SinhOp) { return sinh(code, x); })
      .Case([&](math::CoshOp) { return cosh(code, x); })
      .Case([&](math::AsinhOp) { return asinh(code, x); })
      .Case([&](math::AcoshOp) { return acosh(code, x); })
      .Case([&](math::AtanhOp) { return atanh(code, x); })
      .Case([&](math::CbrtOp) { return cubeRoot(code, x); })
      .Case([&](math::Log10Op) { return timesNumber(code, code.unary<Log2Op>(x), std::log10(2.0)); })
      .Default(Value());
}

//===- Functions of `ad` -===//

static Value direct(TensorCode code, Operation *op, ValueRange x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::AbsFOp, math::AbsIOp>([&](auto) { return code.abs(x[0]); })
      .Case([&](math::CeilOp) { return code.unary<CeilOp>(x[0]); })
      .Case([&](math::FloorOp) { return code.unary<FloorOp>(x[0]); })
      .Case([&](math::RoundEvenOp) { return code.unary<RoundEvenOp>(x[0]); })
      .Case([&](math::SinOp) { return code.unary<SinOp>(x[0]); })
      .Case([&](math::CosOp) { return code.unary<CosOp>(x[0]); })
      .Case([&](math::TanOp) { return code.unary<TanOp>(x[0]); })
      .Case([&](math::TanhOp) { return code.unary<TanhOp>(x[0]); })
      .Case([&](math::ErfOp) { return code.unary<ErfOp>(x[0]); })
      .Case([&](math::ExpOp) { return code.unary<ExpOp>(x[0]); })
      .Case([&](math::Exp2Op) { return code.unary<Exp2Op>(x[0]); })
      .Case([&](math::ExpM1Op) { return code.unary<Expm1Op>(x[0]); })
      .Case([&](math::LogOp) { return code.unary<LogOp>(x[0]); })
      .Case([&](math::Log2Op) { return code.unary<Log2Op>(x[0]); })
      .Case([&](math::Log1pOp) { return code.unary<Log1pOp>(x[0]); })
      .Case([&](math::SqrtOp) { return code.unary<SqrtOp>(x[0]); })
      .Case([&](math::RsqrtOp) { return code.unary<RsqrtOp>(x[0]); })
      .Case([&](math::Atan2Op) { return code.binary<Atan2Op>(x[0], x[1]); })
      .Case([&](math::PowFOp) { return code.binary<PowOp>(x[0], x[1]); })
      .Case([&](math::FmaOp) -> Value {
        return FmaOp::create(code.builder, code.loc, x[0], x[1], x[2], PermissionsAttr());
      })
      .Case([&](math::ClampFOp) -> Value {
        return ClampOp::create(code.builder, code.loc, x[0], x[1], x[2], PermissionsAttr());
      })
      .Default(Value());
}

static Value smallestNormal(TensorCode code, Value x) {
  const llvm::fltSemantics &semantics = cast<FloatType>(TensorCode::elementOf(x)).getFloatSemantics();
  return code.number(x, APFloat::getSmallestNormalized(semantics).convertToDouble());
}

static Value classify(TensorCode code, Operation *op, Value x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::IsNaNOp) { return code.isNaN(x); })
      .Case([&](math::IsFiniteOp) { return code.unary<IsFiniteOp>(x); })
      .Case([&](math::IsInfOp) {
        return code.bitAnd(code.bitNot(code.unary<IsFiniteOp>(x)), code.compare(P::eq, x, x));
      })
      .Case([&](math::IsNormalOp) {
        Value isNormal = code.compare(P::ge, code.abs(x), smallestNormal(code, x));
        return code.bitAnd(code.unary<IsFiniteOp>(x), isNormal);
      })
      .Default(Value());
}

Value ad::raiseMath(TensorCode code, Operation *op, ValueRange x) {
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return {};
  if (Value raised = direct(code, op, x))
    return raised;
  if (Value raised = classify(code, op, x[0]))
    return raised;
  if (isa<math::CopySignOp>(op))
    return copySign(code, x[0], x[1]);
  if (isa<math::TruncOp>(op))
    return truncate(code, x[0]);
  if (isa<math::RoundOp>(op))
    return roundAway(code, x[0]);
  if (isa<math::FPowIOp>(op))
    return powerOfInteger(code, x[0], x[1]);
  Type element = TensorCode::elementOf(x[0]);
  if (!isa<FloatType>(element))
    return raiseBitCounts(code, op, x);
  Value made = composed(code, op, code.cast(x[0], computeType(element)));
  return made ? code.cast(made, element) : made;
}
