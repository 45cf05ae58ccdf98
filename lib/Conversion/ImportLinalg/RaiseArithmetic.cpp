// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic of `arith`. Each operation rounds once to its own type, as in `ad`.

#include "RaiseScalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

static bool isBoolean(Value x) { return TensorCode::elementOf(x).isInteger(1); }

Value ad::flipSign(TensorCode code, Value x) {
  if (isBoolean(x))
    return x;
  unsigned width = TensorCode::elementOf(x).getIntOrFloatBitWidth();
  return code.bitXor(x, code.integer(x, llvm::minIntN(width)));
}

Value ad::unsignedLess(TensorCode code, Value x, Value y) {
  return code.compare(ComparePredicate::lt, flipSign(code, x), flipSign(code, y));
}

template <typename OpT> static Value extremeNumber(TensorCode code, Value x, Value y) {
  Value extreme = code.select(code.isNaN(y), x, code.binary<OpT>(x, y));
  return code.select(code.isNaN(x), y, extreme);
}
Value ad::maxNumber(TensorCode code, Value x, Value y) { return extremeNumber<MaxOp>(code, x, y); }
Value ad::minNumber(TensorCode code, Value x, Value y) { return extremeNumber<MinOp>(code, x, y); }

// Of i1, true is -1 with a sign and 1 without.
static Value raiseBooleans(TensorCode code, Operation *op, ValueRange x) {
  using namespace arith;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AddIOp, SubIOp>([&](auto) { return code.bitXor(x[0], x[1]); })
      .Case<MulIOp, MaxSIOp, MinUIOp>([&](auto) { return code.bitAnd(x[0], x[1]); })
      .Case<MinSIOp, MaxUIOp>([&](auto) { return code.bitOr(x[0], x[1]); })
      .Default(Value());
}

template <typename OpT> static Value unsignedExtreme(TensorCode code, ValueRange x) {
  return flipSign(code, code.binary<OpT>(flipSign(code, x[0]), flipSign(code, x[1])));
}

static Value raiseFloats(TensorCode code, Operation *op, ValueRange x) {
  using namespace arith;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddFOp) { return code.add(x[0], x[1]); })
      .Case([&](SubFOp) { return code.sub(x[0], x[1]); })
      .Case([&](MulFOp) { return code.mul(x[0], x[1]); })
      .Case([&](DivFOp) { return code.div(x[0], x[1]); })
      .Case([&](RemFOp) { return code.binary<RemOp>(x[0], x[1]); })
      .Case([&](NegFOp) { return code.neg(x[0]); })
      .Case([&](MaximumFOp) { return code.binary<MaxOp>(x[0], x[1]); })
      .Case([&](MinimumFOp) { return code.binary<MinOp>(x[0], x[1]); })
      .Case([&](MaxNumFOp) { return maxNumber(code, x[0], x[1]); })
      .Case([&](MinNumFOp) { return minNumber(code, x[0], x[1]); })
      .Default(Value());
}

Value ad::raiseArithmetic(TensorCode code, Operation *op, ValueRange x) {
  using namespace arith;
  if (Value raised = raiseFloats(code, op, x))
    return raised;
  Value bits = llvm::TypeSwitch<Operation *, Value>(op)
                   .Case([&](AndIOp) { return code.bitAnd(x[0], x[1]); })
                   .Case([&](OrIOp) { return code.bitOr(x[0], x[1]); })
                   .Case([&](XOrIOp) { return code.bitXor(x[0], x[1]); })
                   .Case([&](arith::SelectOp) { return code.select(x[0], x[1], x[2]); })
                   .Default(Value());
  if (bits || isBoolean(x[0]))
    return bits ? bits : raiseBooleans(code, op, x);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddIOp) { return code.add(x[0], x[1]); })
      .Case([&](SubIOp) { return code.sub(x[0], x[1]); })
      .Case([&](MulIOp) { return code.mul(x[0], x[1]); })
      .Case([&](MaxSIOp) { return code.binary<MaxOp>(x[0], x[1]); })
      .Case([&](MinSIOp) { return code.binary<MinOp>(x[0], x[1]); })
      .Case([&](MaxUIOp) { return unsignedExtreme<MaxOp>(code, x); })
      .Case([&](MinUIOp) { return unsignedExtreme<MinOp>(code, x); })
      .Case([&](ShLIOp) { return code.binary<ShiftLeftOp>(x[0], x[1]); })
      .Case([&](ShRSIOp) { return code.binary<ShiftRightOp>(x[0], x[1]); })
      .Case([&](ShRUIOp) { return code.binary<ShiftRightLogicalOp>(x[0], x[1]); })
      .Default(Value());
}

//===- Division -===//

static Value remainder(TensorCode code, Value x, Value y, Value quotient) {
  return code.sub(x, code.mul(quotient, y));
}

static Value isNonzero(TensorCode code, Value x) {
  return code.compare(ComparePredicate::ne, x, code.integer(x, 0));
}

// Half of x, which has no sign bit, divided and doubled is off by at most one. A divisor with the highest bit
// fits at most once.
static Value unsignedQuotient(TensorCode code, Value x, Value y) {
  Value one = code.integer(x, 1);
  Value half = code.div(code.binary<ShiftRightLogicalOp>(x, one), y);
  Value doubled = code.binary<ShiftLeftOp>(half, one);
  Value left = remainder(code, x, y, doubled);
  Value again = code.select(unsignedLess(code, left, y), doubled, code.add(doubled, one));
  Value once = code.cast(code.bitNot(unsignedLess(code, x, y)), TensorCode::elementOf(x));
  return code.select(code.isNegative(y), once, again);
}

Value ad::floorQuotient(TensorCode code, Value x, Value y) {
  Value quotient = code.div(x, y), left = remainder(code, x, y, quotient);
  Value differs = code.compare(ComparePredicate::ne, code.isNegative(left), code.isNegative(y));
  return code.select(code.bitAnd(isNonzero(code, left), differs), code.sub(quotient, code.integer(x, 1)),
                     quotient);
}

Value ad::ceilQuotient(TensorCode code, Value x, Value y) {
  Value quotient = code.div(x, y), left = remainder(code, x, y, quotient);
  Value agrees = code.compare(ComparePredicate::eq, code.isNegative(left), code.isNegative(y));
  return code.select(code.bitAnd(isNonzero(code, left), agrees), code.add(quotient, code.integer(x, 1)),
                     quotient);
}

static Value unsignedCeilQuotient(TensorCode code, Value x, Value y) {
  Value quotient = unsignedQuotient(code, x, y);
  Value above = code.cast(isNonzero(code, remainder(code, x, y, quotient)), TensorCode::elementOf(x));
  return code.add(quotient, above);
}

Value ad::raiseIntegers(TensorCode code, Operation *op, ValueRange x) {
  using namespace arith;
  if (x.empty() || isBoolean(x[0]))
    return {};
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](DivSIOp) { return code.div(x[0], x[1]); })
      .Case([&](RemSIOp) { return code.binary<RemOp>(x[0], x[1]); })
      .Case([&](FloorDivSIOp) { return floorQuotient(code, x[0], x[1]); })
      .Case([&](CeilDivSIOp) { return ceilQuotient(code, x[0], x[1]); })
      .Case([&](DivUIOp) { return unsignedQuotient(code, x[0], x[1]); })
      .Case([&](RemUIOp) { return remainder(code, x[0], x[1], unsignedQuotient(code, x[0], x[1])); })
      .Case([&](CeilDivUIOp) { return unsignedCeilQuotient(code, x[0], x[1]); })
      .Default(Value());
}
