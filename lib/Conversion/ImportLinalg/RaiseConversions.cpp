// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Comparisons and conversions of `arith`.

#include "RaiseScalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace mlir::ad;
using P = ComparePredicate;

static Value isOrdered(TensorCode code, Value x, Value y) {
  return code.bitAnd(code.compare(P::eq, x, x), code.compare(P::eq, y, y));
}

static Value compareFloats(TensorCode code, arith::CmpFPredicate predicate, Value x, Value y) {
  using F = arith::CmpFPredicate;
  switch (predicate) {
  case F::OEQ:
    return code.compare(P::eq, x, y);
  case F::OGT:
    return code.compare(P::gt, x, y);
  case F::OGE:
    return code.compare(P::ge, x, y);
  case F::OLT:
    return code.compare(P::lt, x, y);
  case F::OLE:
    return code.compare(P::le, x, y);
  case F::ONE:
    return code.bitOr(code.compare(P::lt, x, y), code.compare(P::gt, x, y));
  case F::ORD:
    return isOrdered(code, x, y);
  case F::UEQ:
    return code.bitNot(code.bitOr(code.compare(P::lt, x, y), code.compare(P::gt, x, y)));
  case F::UGT:
    return code.bitNot(code.compare(P::le, x, y));
  case F::UGE:
    return code.bitNot(code.compare(P::lt, x, y));
  case F::ULT:
    return code.bitNot(code.compare(P::ge, x, y));
  case F::ULE:
    return code.bitNot(code.compare(P::gt, x, y));
  case F::UNE:
    return code.compare(P::ne, x, y);
  case F::UNO:
    return code.bitNot(isOrdered(code, x, y));
  case F::AlwaysFalse: // the shape of both operands, whatever they hold
    return code.bitAnd(code.compare(P::lt, x, y), code.compare(P::gt, x, y));
  case F::AlwaysTrue:
    return code.bitNot(code.bitAnd(code.compare(P::lt, x, y), code.compare(P::gt, x, y)));
  }
  llvm_unreachable("all predicates are listed");
}

static Value compareIntegers(TensorCode code, arith::CmpIPredicate predicate, Value x, Value y) {
  using I = arith::CmpIPredicate;
  bool isUnsigned = predicate >= I::ult;
  if (isUnsigned) {
    x = flipSign(code, x);
    y = flipSign(code, y);
  } else if (TensorCode::elementOf(x).isInteger(1) && predicate >= I::slt) {
    std::swap(x, y); // true is -1, and `ad` compares it as 1
  }
  constexpr P table[] = {P::eq, P::ne, P::lt, P::le, P::gt, P::ge, P::lt, P::le, P::gt, P::ge};
  return code.compare(table[static_cast<unsigned>(predicate)], x, y);
}

Value ad::raiseComparison(TensorCode code, Operation *op, ValueRange x) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compareFloats(code, compare.getPredicate(), x[0], x[1]);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareIntegers(code, compare.getPredicate(), x[0], x[1]);
  return {};
}

//===- Conversions -===//

// The number of x as bits without sign, in a wider type.
static Value extendUnsigned(TensorCode code, Value x, Type to) {
  unsigned width = TensorCode::elementOf(x).getIntOrFloatBitWidth();
  Value extended = code.cast(x, to); // copies the sign, but for i1
  return width == 1 || width >= to.getIntOrFloatBitWidth()
             ? extended
             : code.bitAnd(extended, code.integer(extended, llvm::maxUIntN(width)));
}

static Value extendSigned(TensorCode code, Value x, Type to) {
  Value extended = code.cast(x, to);
  return TensorCode::elementOf(x).isInteger(1) ? code.neg(extended) : extended;
}

static Value truncateInteger(TensorCode code, Value x, Type to) {
  return code.cast(to.isInteger(1) ? code.bitAnd(x, code.integer(x, 1)) : x, to); // a cast to i1 is x != 0
}

// Half of a number with the highest bit, with its lowest bit kept so that it rounds as the number does.
static Value unsignedToFloat(TensorCode code, Value x, Type to) {
  if (!TensorCode::elementOf(x).isInteger(64))
    return code.cast(extendUnsigned(code, x, code.builder.getI64Type()), to);
  Value one = code.integer(x, 1);
  Value half = code.bitOr(code.binary<ShiftRightLogicalOp>(x, one), code.bitAnd(x, one));
  Value converted = code.cast(half, to);
  return code.select(code.isNegative(x), code.add(converted, converted), code.cast(x, to));
}

// i64 holds every number of fewer bits. Numbers from 2^63 on are converted without this bit, which is added
// again.
static Value floatToUnsigned(TensorCode code, Value x, Type to) {
  Type wide = code.builder.getI64Type();
  if (!to.isInteger(64))
    return truncateInteger(code, code.cast(x, wide), to);
  Value limit = code.number(x, 0x1p63); // an infinity, or the largest number, in types that do not reach it
  Value isLarge = code.compare(P::ge, x, limit);
  Value low = code.cast(code.select(isLarge, code.sub(x, limit), x), wide);
  return code.select(isLarge, flipSign(code, low), low);
}

// `ad.cast` to 8 bits saturates, and arith rounds to an infinity, or to NaN where there is none. Magnitudes
// from the limit on do so; f8E4M3FN rounds the limit itself, a tie, to its largest number, which is even.
static Value truncateToByte(TensorCode code, Value x, Type to) {
  bool hasInfinity = isa<Float8E5M2Type>(to);
  Value limit = code.number(x, hasInfinity ? 61440.0 : 464.0), rounded = code.cast(x, to);
  Value isLarge = code.compare(hasInfinity ? P::ge : P::gt, code.abs(x), limit);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!hasInfinity)
    return code.select(isLarge, code.number(rounded, std::numeric_limits<double>::quiet_NaN()), rounded);
  Value infinite =
      code.select(code.isNegative(x), code.number(rounded, -infinity), code.number(rounded, infinity));
  return code.select(isLarge, infinite, rounded);
}

static Value truncateFloat(TensorCode code, Value x, Type to) {
  return to.getIntOrFloatBitWidth() == 8 ? truncateToByte(code, x, to) : code.cast(x, to);
}

// An index is an i64.
static Value castIndex(TensorCode code, Value x, Type to, bool isSigned) {
  if (TensorCode::elementOf(x).getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return truncateInteger(code, x, to);
  return isSigned ? extendSigned(code, x, to) : extendUnsigned(code, x, to);
}

Value ad::raiseConversion(TensorCode code, Operation *op, ValueRange x) {
  using namespace arith;
  if (!isa<CastOpInterface>(op))
    return {};
  Type to = importedElement(getElementTypeOrSelf(op->getResult(0).getType()));
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](ExtFOp) { return code.cast(x[0], to); })
      .Case([&](TruncFOp) { return truncateFloat(code, x[0], to); })
      .Case([&](ExtSIOp) { return extendSigned(code, x[0], to); })
      .Case([&](ExtUIOp) { return extendUnsigned(code, x[0], to); })
      .Case([&](TruncIOp) { return truncateInteger(code, x[0], to); })
      .Case([&](SIToFPOp) {
        bool isBoolean = TensorCode::elementOf(x[0]).isInteger(1);
        return code.cast(isBoolean ? extendSigned(code, x[0], code.builder.getI32Type()) : x[0], to);
      })
      .Case([&](UIToFPOp) { return unsignedToFloat(code, x[0], to); })
      .Case([&](FPToSIOp) { return to.isInteger(1) ? floatToUnsigned(code, x[0], to) : code.cast(x[0], to); })
      .Case([&](FPToUIOp) { return floatToUnsigned(code, x[0], to); })
      .Case([&](IndexCastOp) { return castIndex(code, x[0], to, true); })
      .Case([&](IndexCastUIOp) { return castIndex(code, x[0], to, false); })
      .Case([&](arith::BitcastOp) { return code.bitcast(x[0], to); })
      .Default(Value());
}
