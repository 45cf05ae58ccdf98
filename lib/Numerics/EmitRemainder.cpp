// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Long division of the significands, one bit per iteration.
#include "adjoint/Numerics/EmitRemainder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace {

/// Arithmetic on the bits of one float type.
class BitCode {
public:
  BitCode(OpBuilder &builder, Location loc, FloatType type)
      : builder(builder), loc(loc), type(type), integer(builder.getIntegerType(type.getWidth())),
        fraction(type.getFPMantissaWidth() - 1) {}

  Value constant(const APInt &value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(integer, value));
  }
  Value constant(uint64_t value) { return constant(APInt(type.getWidth(), value)); }
  template <class Op> Value make(Value lhs, Value rhs) { return Op::create(builder, loc, lhs, rhs); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value bits(Value number) { return arith::BitcastOp::create(builder, loc, integer, number); }
  Value number(Value bits) { return arith::BitcastOp::create(builder, loc, type, bits); }

  /// The exponent field, or 1 for subnormals, whose bits have the same weights as those of the smallest
  /// normals.
  Value exponent(Value magnitude) {
    return make<arith::MaxUIOp>(make<arith::ShRUIOp>(magnitude, constant(fraction)), constant(1));
  }
  Value significand(Value magnitude) {
    Value low = make<arith::AndIOp>(magnitude, constant(hidden() - 1));
    Value isNormal = compare(arith::CmpIPredicate::uge, magnitude, constant(hidden()));
    return make<arith::OrIOp>(low, select(isNormal, constant(hidden()), constant(0)));
  }
  /// The number with this exponent and this significand, which is less than twice the hidden bit.
  Value encode(Value significand, Value exponent);
  /// In each step, doubles the remainder and subtracts the divisor if possible.
  Value divide(Value rest, Value divisor, Value steps);

  APInt hidden() { return APInt::getOneBitSet(type.getWidth(), fraction); }

private:
  OpBuilder &builder;
  Location loc;
  FloatType type;
  IntegerType integer;
  unsigned fraction;
};

Value BitCode::encode(Value significand, Value exponent) {
  Value zeros = math::CountLeadingZerosOp::create(builder, loc, significand);
  Value missing = make<arith::SubIOp>(zeros, constant(type.getWidth() - 1 - fraction));
  // A zero has no leading bit, and is handled at the end.
  Value isNormal = compare(arith::CmpIPredicate::ult, missing, exponent);
  Value shift = make<arith::MinUIOp>(missing, constant(fraction));
  Value above = make<arith::SubIOp>(make<arith::SubIOp>(exponent, shift), constant(1));
  Value normal = make<arith::AddIOp>(make<arith::ShLIOp>(significand, shift),
                                     make<arith::ShLIOp>(above, constant(fraction)));
  Value subnormalShift = make<arith::MinUIOp>(make<arith::SubIOp>(exponent, constant(1)), constant(fraction));
  Value isZero = compare(arith::CmpIPredicate::eq, significand, constant(0));
  Value encoded = select(isNormal, normal, make<arith::ShLIOp>(significand, subnormalShift));
  return select(isZero, constant(0), encoded);
}

Value BitCode::divide(Value rest, Value divisor, Value steps) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), steps);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one, rest);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value doubled = make<arith::ShLIOp>(loop.getRegionIterArg(0), constant(1));
  Value less = make<arith::SubIOp>(doubled, divisor);
  Value fits = compare(arith::CmpIPredicate::uge, doubled, divisor);
  scf::YieldOp::create(builder, loc, select(fits, less, doubled));
  return loop.getResult(0);
}

} // namespace

Value mlir::ad::numerics::emitRemainder(OpBuilder &builder, Location loc, Value x, Value y) {
  auto type = cast<FloatType>(x.getType());
  BitCode code(builder, loc, type);
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  Value infinity = code.constant(APFloat::getInf(semantics).bitcastToAPInt());
  Value nan = code.constant(APFloat::getQNaN(semantics).bitcastToAPInt());
  Value signMask = code.constant(APInt::getSignMask(type.getWidth()));
  Value magnitudes = code.constant(APInt::getSignedMaxValue(type.getWidth()));
  Value zero = code.constant(0), one = code.constant(1);

  Value bitsX = code.bits(x), sign = code.make<arith::AndIOp>(bitsX, signMask);
  Value a = code.make<arith::AndIOp>(bitsX, magnitudes);
  Value b = code.make<arith::AndIOp>(code.bits(y), magnitudes);
  using P = arith::CmpIPredicate;
  Value undefined =
      code.make<arith::OrIOp>(code.compare(P::uge, a, infinity), code.compare(P::ugt, b, infinity));
  undefined = code.make<arith::OrIOp>(undefined, code.compare(P::eq, b, zero));
  Value isSmaller = code.compare(P::ult, a, b);
  Value divides =
      code.make<arith::XOrIOp>(code.make<arith::OrIOp>(undefined, isSmaller),
                               arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1));

  Value exponent = code.exponent(b);
  Value divisor = code.make<arith::MaxUIOp>(code.significand(b), one);
  Value steps = code.select(divides, code.make<arith::SubIOp>(code.exponent(a), exponent), zero);
  Value rest = code.make<arith::RemUIOp>(code.significand(a), divisor);
  Value result = code.encode(code.divide(rest, divisor, steps), exponent);
  result = code.select(isSmaller, a, result);
  return code.number(code.select(undefined, nan, code.make<arith::OrIOp>(result, sign)));
}
