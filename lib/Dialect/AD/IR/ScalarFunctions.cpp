// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The scalar functions that need more than a line: integer division and comparison.

#include "ScalarFunctions.h"

using namespace mlir;
using namespace mlir::ad;

Value ad::emitIntegerDivision(ScalarCode code, Value x, Value y, bool remainder) {
  Value zero = code.constant(x.getType(), 0), one = code.constant(x.getType(), 1),
        minusOne = code.constant(x.getType(), -1);
  Value byZero = code.compare(IntegerPredicate::eq, y, zero);
  Value byMinusOne = code.compare(IntegerPredicate::eq, y, minusOne);
  Value divisor = code.select(byZero, one, code.select(byMinusOne, one, y));
  if (remainder) {
    Value result = code.select(byMinusOne, zero, code.make<arith::RemSIOp>({x, divisor}));
    return code.select(byZero, x, result);
  }
  Value negated = code.make<arith::SubIOp>({zero, x});
  Value result = code.select(byMinusOne, negated, code.make<arith::DivSIOp>({x, divisor}));
  return code.select(byZero, zero, result);
}

Value ad::clampShift(ScalarCode code, Value places) {
  Value last = code.constant(places.getType(), places.getType().getIntOrFloatBitWidth() - 1);
  return code.make<arith::MinUIOp>({places, last});
}

Value ad::zeroWhereAllBitsLeave(ScalarCode code, Value places, Value shifted) {
  Value bits = code.constant(places.getType(), places.getType().getIntOrFloatBitWidth());
  return code.select(code.compare(IntegerPredicate::ult, places, bits), shifted,
                     code.constant(shifted.getType(), 0));
}

Value ad::emitComparison(ScalarCode code, ComparePredicate predicate, Value x, Value y) {
  unsigned index = static_cast<unsigned>(predicate);
  if (isa<FloatType>(x.getType())) {
    using P = FloatPredicate;
    constexpr P table[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
    return code.compare(table[index], x, y);
  }
  using P = IntegerPredicate;
  constexpr P isSigned[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  constexpr P isBoolean[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  return code.compare(x.getType().isInteger(1) ? isBoolean[index] : isSigned[index], x, y);
}

template <class T> static bool holds(ComparePredicate predicate, T a, T b) {
  switch (predicate) {
  case ComparePredicate::eq:
    return a == b;
  case ComparePredicate::ne:
    return a != b;
  case ComparePredicate::lt:
    return a < b;
  case ComparePredicate::le:
    return a <= b;
  case ComparePredicate::gt:
    return a > b;
  case ComparePredicate::ge:
    return a >= b;
  }
  return false;
}

// Both conversions are exact: no float that is not f64 has more digits, no integer more than 64 bits.
ScalarEvaluator ad::evaluateComparison(numerics::ElementType type, ComparePredicate predicate) {
  return [=](ArrayRef<uint64_t> x) -> uint64_t {
    if (numerics::isFloat(type))
      return holds(predicate, numerics::toDouble(type, x[0]), numerics::toDouble(type, x[1]));
    return holds(predicate, numerics::toInteger(type, x[0]), numerics::toInteger(type, x[1]));
  };
}
