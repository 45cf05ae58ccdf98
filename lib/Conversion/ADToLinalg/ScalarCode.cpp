// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The scalar code of every elementwise operation: what stands in the region of a linalg.generic. 16- and
// 8-bit floats are converted to f32, computed and converted back, which is the one rounding per operation
// that the contract asks for.

#include "ADToLinalg.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Numerics/Elementary.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// The builder and place of one scalar operation.
struct Scalar {
  OpBuilder &builder;
  Location loc;

  template <class Op> Value make(ValueRange operands) {
    return Op::create(builder, loc, operands.front().getType(), operands);
  }
  Value constant(Type type, double value) { return numberConstant(builder, loc, type, value); }
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value select(Value condition, Value onTrue, Value onFalse) {
    return arith::SelectOp::create(builder, loc, condition, onTrue, onFalse);
  }
  Value elementary(ElementaryFunction function, ValueRange operands) {
    return ElementaryOp::create(builder, loc, operands.front().getType(), function, approximate, operands);
  }

  bool approximate = false; // whether elementary functions take their shorter form
};
} // namespace

// The elementary function that an operation applies, if that is all it does.
static std::optional<ElementaryFunction> elementaryOf(Operation *op) {
  using F = ElementaryFunction;
  return llvm::TypeSwitch<Operation *, std::optional<F>>(op)
      .Case([](ExpOp) { return F::exp; })
      .Case([](Exp2Op) { return F::exp2; })
      .Case([](Expm1Op) { return F::expm1; })
      .Case([](LogOp) { return F::log; })
      .Case([](Log2Op) { return F::log2; })
      .Case([](Log1pOp) { return F::log1p; })
      .Case([](SinOp) { return F::sin; })
      .Case([](CosOp) { return F::cos; })
      .Case([](TanOp) { return F::tan; })
      .Case([](TanhOp) { return F::tanh; })
      .Case([](SqrtOp) { return F::sqrt; })
      .Case([](RsqrtOp) { return F::rsqrt; })
      .Case([](RecipOp) { return F::recip; })
      .Case([](ErfOp) { return F::erf; })
      .Case([](SigmoidOp) { return F::sigmoid; })
      .Case([](GeluOp gelu) { return gelu.getForm() == GeluForm::tanh ? F::gelu_tanh : F::gelu; })
      .Case([](SiluOp) { return F::silu; })
      .Case([](SoftplusOp) { return F::softplus; })
      .Case([](PowOp) { return F::pow; })
      .Case([](Atan2Op) { return F::atan2; })
      .Default([](Operation *) { return std::nullopt; });
}

static Value emitSign(Scalar s, Value x) {
  Type type = x.getType();
  Value zero = s.constant(type, 0), one = s.constant(type, 1), minusOne = s.constant(type, -1);
  if (isa<FloatType>(type)) {
    // x itself where it is neither positive nor negative: zeros keep their sign, NaN stays.
    Value negative = s.select(s.compare(arith::CmpFPredicate::OLT, x, zero), minusOne, x);
    return s.select(s.compare(arith::CmpFPredicate::OGT, x, zero), one, negative);
  }
  Value negative = s.select(s.compare(arith::CmpIPredicate::slt, x, zero), minusOne, zero);
  return s.select(s.compare(arith::CmpIPredicate::sgt, x, zero), one, negative);
}

// Integer quotient and remainder without traps: x / 0 = 0, x rem 0 = x, MIN / -1 = MIN, MIN rem -1 = 0.
static Value emitIntegerDivision(Scalar s, Value x, Value y, bool remainder) {
  Value zero = s.constant(x.getType(), 0), one = s.constant(x.getType(), 1),
        minusOne = s.constant(x.getType(), -1);
  Value byZero = s.compare(arith::CmpIPredicate::eq, y, zero);
  Value byMinusOne = s.compare(arith::CmpIPredicate::eq, y, minusOne);
  Value divisor = s.select(byZero, one, s.select(byMinusOne, one, y));
  if (remainder) {
    Value result = s.select(byMinusOne, zero, s.make<arith::RemSIOp>({x, divisor}));
    return s.select(byZero, x, result);
  }
  Value negated = s.make<arith::SubIOp>({zero, x});
  Value result = s.select(byMinusOne, negated, s.make<arith::DivSIOp>({x, divisor}));
  return s.select(byZero, zero, result);
}

static Value emitFloatUnary(Scalar s, Operation *op, Value x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) { return s.make<math::AbsFOp>({x}); })
      .Case([&](NegOp) { return s.make<arith::NegFOp>({x}); })
      .Case([&](SignOp) { return emitSign(s, x); })
      .Case([&](FloorOp) { return s.make<math::FloorOp>({x}); })
      .Case([&](CeilOp) { return s.make<math::CeilOp>({x}); })
      .Case([&](RoundEvenOp) { return s.make<math::RoundEvenOp>({x}); })
      .Case([&](ReluOp) {
        Value zero = s.constant(x.getType(), 0);
        return s.select(s.compare(arith::CmpFPredicate::OLT, x, zero), zero, x);
      })
      .Default([](Operation *) { return Value(); });
}

static Value emitIntegerUnary(Scalar s, Operation *op, Value x) {
  Value zero = s.constant(x.getType(), 0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) {
        Value negated = s.make<arith::SubIOp>({zero, x});
        return s.select(s.compare(arith::CmpIPredicate::slt, x, zero), negated, x);
      })
      .Case([&](NegOp) { return s.make<arith::SubIOp>({zero, x}); })
      .Case([&](SignOp) { return emitSign(s, x); })
      .Case([&](NotOp) {
        // -1 is "all ones" for i1 as well.
        Value ones = arith::ConstantOp::create(s.builder, s.loc, s.builder.getIntegerAttr(x.getType(), -1));
        return s.make<arith::XOrIOp>({x, ones});
      })
      .Default([](Operation *) { return Value(); });
}

static Value emitFloatBinary(Scalar s, Operation *op, Value x, Value y) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddOp) { return s.make<arith::AddFOp>({x, y}); })
      .Case([&](SubOp) { return s.make<arith::SubFOp>({x, y}); })
      .Case([&](MulOp) { return s.make<arith::MulFOp>({x, y}); })
      .Case([&](DivOp) { return s.make<arith::DivFOp>({x, y}); })
      .Case([&](RemOp) { return s.make<arith::RemFOp>({x, y}); })
      .Case([&](MaxOp) { return s.make<arith::MaximumFOp>({x, y}); })
      .Case([&](MinOp) { return s.make<arith::MinimumFOp>({x, y}); })
      .Default([](Operation *) { return Value(); });
}

static Value emitIntegerBinary(Scalar s, Operation *op, Value x, Value y) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddOp) { return s.make<arith::AddIOp>({x, y}); })
      .Case([&](SubOp) { return s.make<arith::SubIOp>({x, y}); })
      .Case([&](MulOp) { return s.make<arith::MulIOp>({x, y}); })
      .Case([&](DivOp) { return emitIntegerDivision(s, x, y, /*remainder=*/false); })
      .Case([&](RemOp) { return emitIntegerDivision(s, x, y, /*remainder=*/true); })
      .Case([&](MaxOp) { return s.make<arith::MaxSIOp>({x, y}); })
      .Case([&](MinOp) { return s.make<arith::MinSIOp>({x, y}); })
      .Case([&](AndOp) { return s.make<arith::AndIOp>({x, y}); })
      .Case([&](OrOp) { return s.make<arith::OrIOp>({x, y}); })
      .Case([&](XorOp) { return s.make<arith::XOrIOp>({x, y}); })
      .Default([](Operation *) { return Value(); });
}

static Value emitCompare(Scalar s, ComparePredicate predicate, Value x, Value y) {
  unsigned index = static_cast<unsigned>(predicate);
  if (isa<FloatType>(x.getType())) {
    using P = arith::CmpFPredicate;
    constexpr P table[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
    return s.compare(table[index], x, y);
  }
  using P = arith::CmpIPredicate;
  constexpr P isSigned[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  constexpr P isBoolean[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  return s.compare(x.getType().isInteger(1) ? isBoolean[index] : isSigned[index], x, y);
}

static bool mayApproximate(Operation *op, ElementaryFunction function, Type type) {
  return type.isF32() && numerics::hasApproximation(static_cast<numerics::Elementary>(function)) &&
         bitEnumContainsAll(cast<NumericsOpInterface>(op).getPermissions(), Permissions::approx);
}

// `operands` already have the type in which the operation computes.
static Value emitInComputeType(Scalar s, Operation *op, ValueRange operands) {
  if (auto function = elementaryOf(op)) {
    s.approximate = mayApproximate(op, *function, operands.front().getType());
    if (s.approximate)
      recordNumericsUse(s.loc, "approximate-function", Permissions::approx);
    return s.elementary(*function, operands);
  }
  Value x = operands.front();
  bool isFloat = isa<FloatType>(x.getType());
  if (auto compare = dyn_cast<CompareOp>(op))
    return emitCompare(s, compare.getPredicate(), x, operands[1]);
  if (isa<FmaOp>(op))
    return s.make<math::FmaOp>(operands);
  if (isa<IsFiniteOp>(op)) {
    auto type = cast<FloatType>(x.getType());
    Value infinity = arith::ConstantOp::create(
        s.builder, s.loc, FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics())));
    return s.compare(arith::CmpFPredicate::OLT, s.make<math::AbsFOp>({x}), infinity);
  }
  if (operands.size() == 1)
    return isFloat ? emitFloatUnary(s, op, x) : emitIntegerUnary(s, op, x);
  if (operands.size() == 2)
    return isFloat ? emitFloatBinary(s, op, x, operands[1]) : emitIntegerBinary(s, op, x, operands[1]);
  return {};
}

Value ad::emitScalarCode(OpBuilder &builder, Operation *op, ValueRange scalars) {
  Location loc = op->getLoc();
  Scalar s{builder, loc};
  Type element = getElementTypeOrSelf(op->getResult(0));
  // Moves bits: no conversion in between.
  if (isa<CastOp>(op))
    return convertScalar(builder, loc, scalars[0], element);
  if (isa<SelectOp>(op))
    return s.select(scalars[0], scalars[1], scalars[2]);
  SmallVector<Value> operands;
  for (Value scalar : scalars)
    operands.push_back(convertScalar(builder, loc, scalar, computeType(scalar.getType())));
  Value result = emitInComputeType(s, op, operands);
  return result ? convertScalar(builder, loc, result, element) : result;
}
