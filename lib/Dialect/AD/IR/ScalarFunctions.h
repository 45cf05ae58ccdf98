// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The scalar function of each elementwise operation, in two forms: on C++ numbers, for folding, and as scalar
// code, for kernels. Both give the same bits. `ScalarFunction<OP>` belongs to the class OP of an operation;
// the records of ADElementwiseOps.td call it. Elementary functions need no specialization: their texts are in
// Numerics/Math.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_SCALARFUNCTIONS_H
#define ADJOINT_LIB_DIALECT_AD_IR_SCALARFUNCTIONS_H

#include "ScalarEvaluation.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"

namespace mlir::ad {
using FloatPredicate = arith::CmpFPredicate;
using IntegerPredicate = arith::CmpIPredicate;

/// Integer quotient or remainder without traps: x / 0 = 0, x rem 0 = x, MIN / -1 = MIN, MIN rem -1 = 0.
Value emitIntegerDivision(ScalarCode code, Value x, Value y, bool remainder);
/// The places of a shift, at most all bits but one: more are undefined. Negative numbers are large ones.
Value clampShift(ScalarCode code, Value places);
/// 0 where as many places as there are bits or more leave none.
Value zeroWhereAllBitsLeave(ScalarCode code, Value places, Value shifted);
Value emitComparison(ScalarCode code, ComparePredicate predicate, Value x, Value y);

template <class OpT> struct ScalarFunction;

/// What most functions share. 16- and 8-bit floats are converted to f32, computed and converted back, which
/// is the one rounding per operation that the contract requires. `ScalarFunction<OpT>` adds
///   evaluate(op, ArrayRef<T>)  of T = double, float and int64_t; integers wrap
///   emit(op, code, operands)   with operands in the type in which the operation computes
template <class OpT> struct ComputedFunction {
  static Value emitScalar(OpT op, OpBuilder &builder, Location loc, ValueRange scalars) {
    ScalarCode code{builder, loc};
    Value result = ScalarFunction<OpT>::emit(op, code, code.widen(scalars));
    return code.convert(result, getElementTypeOrSelf(op.getResult().getType()));
  }
  static ScalarEvaluator evaluator(OpT op) {
    return evaluateNumbers(op, [op](auto x) { return ScalarFunction<OpT>::evaluate(op, x); });
  }
  static int64_t cost(OpT) { return 1; }
};

/// An elementary function: the operation has `getElementaryFunction()`.
template <class OpT> struct ScalarFunction : ComputedFunction<OpT> {
  template <class T> static T evaluate(OpT op, ArrayRef<T> x) {
    if constexpr (std::is_integral_v<T>)
      llvm_unreachable("elementary functions take floats");
    else
      return numerics::evaluate(op.getElementaryFunction(), x.front(), x.back());
  }
  static Value emit(OpT op, ScalarCode code, ValueRange x) {
    return code.elementary(op.getElementaryFunction(), x);
  }
  static int64_t cost(OpT op) { return numerics::elementaryCost(op.getElementaryFunction()); }
};

//===- One operand -===//

template <> struct ScalarFunction<AbsOp> : ComputedFunction<AbsOp> {
  template <class T> static T evaluate(AbsOp, ArrayRef<T> x) {
    if constexpr (std::is_integral_v<T>)
      return x[0] < 0 ? wrappingSubtract(0, x[0]) : x[0];
    else
      return std::abs(x[0]);
  }
  static Value emit(AbsOp, ScalarCode code, ValueRange x) {
    Type type = x[0].getType();
    if (isa<FloatType>(type))
      return code.make<math::AbsFOp>(x);
    Value zero = code.constant(type, 0);
    Value negated = code.make<arith::SubIOp>({zero, x[0]});
    return code.select(code.compare(IntegerPredicate::slt, x[0], zero), negated, x[0]);
  }
};

template <> struct ScalarFunction<NegOp> : ComputedFunction<NegOp> {
  template <class T> static T evaluate(NegOp, ArrayRef<T> x) {
    if constexpr (std::is_integral_v<T>)
      return wrappingSubtract(0, x[0]);
    else
      return -x[0];
  }
  static Value emit(NegOp, ScalarCode code, ValueRange x) {
    if (isa<FloatType>(x[0].getType()))
      return code.make<arith::NegFOp>(x);
    return code.make<arith::SubIOp>({code.constant(x[0].getType(), 0), x[0]});
  }
};

/// The operand itself where it is neither positive nor negative: zeros keep their sign, NaN stays.
template <> struct ScalarFunction<SignOp> : ComputedFunction<SignOp> {
  template <class T> static T evaluate(SignOp, ArrayRef<T> x) {
    return x[0] > 0 ? T(1) : x[0] < 0 ? T(-1) : x[0];
  }
  static Value emit(SignOp, ScalarCode code, ValueRange x) {
    Type type = x[0].getType();
    Value zero = code.constant(type, 0), one = code.constant(type, 1), minusOne = code.constant(type, -1);
    if (isa<FloatType>(type)) {
      Value negative = code.select(code.compare(FloatPredicate::OLT, x[0], zero), minusOne, x[0]);
      return code.select(code.compare(FloatPredicate::OGT, x[0], zero), one, negative);
    }
    Value negative = code.select(code.compare(IntegerPredicate::slt, x[0], zero), minusOne, zero);
    return code.select(code.compare(IntegerPredicate::sgt, x[0], zero), one, negative);
  }
};

template <> struct ScalarFunction<FloorOp> : ComputedFunction<FloorOp> {
  template <class T> static T evaluate(FloorOp, ArrayRef<T> x) { return static_cast<T>(std::floor(x[0])); }
  static Value emit(FloorOp, ScalarCode code, ValueRange x) { return code.make<math::FloorOp>(x); }
};

template <> struct ScalarFunction<CeilOp> : ComputedFunction<CeilOp> {
  template <class T> static T evaluate(CeilOp, ArrayRef<T> x) { return static_cast<T>(std::ceil(x[0])); }
  static Value emit(CeilOp, ScalarCode code, ValueRange x) { return code.make<math::CeilOp>(x); }
};

template <> struct ScalarFunction<RoundEvenOp> : ComputedFunction<RoundEvenOp> {
  template <class T> static T evaluate(RoundEvenOp, ArrayRef<T> x) {
    return static_cast<T>(std::nearbyint(x[0]));
  }
  static Value emit(RoundEvenOp, ScalarCode code, ValueRange x) { return code.make<math::RoundEvenOp>(x); }
};

template <> struct ScalarFunction<ReluOp> : ComputedFunction<ReluOp> {
  template <class T> static T evaluate(ReluOp, ArrayRef<T> x) { return x[0] < 0 ? T(0) : x[0]; }
  static Value emit(ReluOp, ScalarCode code, ValueRange x) {
    Value zero = code.constant(x[0].getType(), 0);
    return code.select(code.compare(FloatPredicate::OLT, x[0], zero), zero, x[0]);
  }
};

template <> struct ScalarFunction<NotOp> : ComputedFunction<NotOp> {
  template <class T> static T evaluate(NotOp op, ArrayRef<T> x) {
    bool isBoolean = getElementTypeOrSelf(op.getType()).isInteger(1);
    return static_cast<T>(static_cast<int64_t>(x[0]) ^ (isBoolean ? 1 : -1));
  }
  static Value emit(NotOp, ScalarCode code, ValueRange x) {
    // -1 is "all ones" for i1 as well.
    return code.make<arith::XOrIOp>({x[0], code.constant(x[0].getType(), -1)});
  }
};

template <> struct ScalarFunction<IsFiniteOp> : ComputedFunction<IsFiniteOp> {
  static ScalarEvaluator evaluator(IsFiniteOp op) {
    return [type = elementTypeOf(op.getInput())](ArrayRef<uint64_t> x) -> uint64_t {
      return std::isfinite(numerics::toDouble(type, x[0]));
    };
  }
  static Value emit(IsFiniteOp, ScalarCode code, ValueRange x) {
    auto type = cast<FloatType>(x[0].getType());
    Value infinity = arith::ConstantOp::create(
        code.builder, code.loc, FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics())));
    return code.compare(FloatPredicate::OLT, code.make<math::AbsFOp>(x), infinity);
  }
};

/// Converts bits, with no rounding in between.
template <> struct ScalarFunction<CastOp> : ComputedFunction<CastOp> {
  static ScalarEvaluator evaluator(CastOp op) {
    return [from = elementTypeOf(op.getInput()), to = elementTypeOf(op.getResult())](ArrayRef<uint64_t> x) {
      return numerics::castScalar(from, to, x[0]);
    };
  }
  static Value emitScalar(CastOp op, OpBuilder &builder, Location loc, ValueRange scalars) {
    return convertScalar(builder, loc, scalars[0], getElementTypeOrSelf(op.getType()));
  }
};

/// Kernels give every NaN one pattern of bits (makeConversionTotal), and so does the evaluator.
template <> struct ScalarFunction<BitcastOp> : ComputedFunction<BitcastOp> {
  static ScalarEvaluator evaluator(BitcastOp op) {
    return [from = getElementTypeOrSelf(op.getInput())](ArrayRef<uint64_t> x) {
      return numerics::contractBits(from, x[0]);
    };
  }
  static Value emitScalar(BitcastOp op, OpBuilder &builder, Location loc, ValueRange scalars) {
    Type type = getElementTypeOrSelf(op.getType());
    return scalars[0].getType() == type ? scalars[0]
                                        : Value(arith::BitcastOp::create(builder, loc, type, scalars[0]));
  }
};

//===- Two operands -===//

template <> struct ScalarFunction<AddOp> : ComputedFunction<AddOp> {
  template <class T> static T evaluate(AddOp, ArrayRef<T> x) {
    if constexpr (std::is_integral_v<T>)
      return wrappingAdd(x[0], x[1]);
    else
      return x[0] + x[1];
  }
  static Value emit(AddOp, ScalarCode code, ValueRange x) {
    return code.make<arith::AddFOp, arith::AddIOp>(x);
  }
};

template <> struct ScalarFunction<SubOp> : ComputedFunction<SubOp> {
  template <class T> static T evaluate(SubOp, ArrayRef<T> x) {
    if constexpr (std::is_integral_v<T>)
      return wrappingSubtract(x[0], x[1]);
    else
      return x[0] - x[1];
  }
  static Value emit(SubOp, ScalarCode code, ValueRange x) {
    return code.make<arith::SubFOp, arith::SubIOp>(x);
  }
};

template <> struct ScalarFunction<MulOp> : ComputedFunction<MulOp> {
  template <class T> static T evaluate(MulOp, ArrayRef<T> x) {
    if constexpr (std::is_integral_v<T>)
      return wrappingMultiply(x[0], x[1]);
    else
      return x[0] * x[1];
  }
  static Value emit(MulOp, ScalarCode code, ValueRange x) {
    return code.make<arith::MulFOp, arith::MulIOp>(x);
  }
};

template <> struct ScalarFunction<DivOp> : ComputedFunction<DivOp> {
  template <class T> static T evaluate(DivOp, ArrayRef<T> x) {
    if constexpr (std::is_integral_v<T>)
      return quotient(x[0], x[1]);
    else
      return x[0] / x[1];
  }
  static Value emit(DivOp, ScalarCode code, ValueRange x) {
    return isa<FloatType>(x[0].getType()) ? code.make<arith::DivFOp>(x)
                                          : emitIntegerDivision(code, x[0], x[1], /*remainder=*/false);
  }
};

template <> struct ScalarFunction<RemOp> : ComputedFunction<RemOp> {
  template <class T> static T evaluate(RemOp, ArrayRef<T> x) {
    if constexpr (std::is_integral_v<T>)
      return remainder(x[0], x[1]);
    else
      return std::fmod(x[0], x[1]);
  }
  static Value emit(RemOp, ScalarCode code, ValueRange x) {
    return isa<FloatType>(x[0].getType()) ? code.make<arith::RemFOp>(x)
                                          : emitIntegerDivision(code, x[0], x[1], /*remainder=*/true);
  }
};

template <> struct ScalarFunction<MaxOp> : ComputedFunction<MaxOp> {
  template <class T> static T evaluate(MaxOp, ArrayRef<T> x) { return maximum(x[0], x[1]); }
  static Value emit(MaxOp, ScalarCode code, ValueRange x) {
    return code.make<arith::MaximumFOp, arith::MaxSIOp>(x);
  }
};

template <> struct ScalarFunction<MinOp> : ComputedFunction<MinOp> {
  template <class T> static T evaluate(MinOp, ArrayRef<T> x) { return minimum(x[0], x[1]); }
  static Value emit(MinOp, ScalarCode code, ValueRange x) {
    return code.make<arith::MinimumFOp, arith::MinSIOp>(x);
  }
};

template <> struct ScalarFunction<AndOp> : ComputedFunction<AndOp> {
  template <class T> static T evaluate(AndOp, ArrayRef<T> x) {
    return onBits(x, [](auto a, auto b) { return a & b; });
  }
  static Value emit(AndOp, ScalarCode code, ValueRange x) { return code.make<arith::AndIOp>(x); }
};

template <> struct ScalarFunction<OrOp> : ComputedFunction<OrOp> {
  template <class T> static T evaluate(OrOp, ArrayRef<T> x) {
    return onBits(x, [](auto a, auto b) { return a | b; });
  }
  static Value emit(OrOp, ScalarCode code, ValueRange x) { return code.make<arith::OrIOp>(x); }
};

template <> struct ScalarFunction<XorOp> : ComputedFunction<XorOp> {
  template <class T> static T evaluate(XorOp, ArrayRef<T> x) {
    return onBits(x, [](auto a, auto b) { return a ^ b; });
  }
  static Value emit(XorOp, ScalarCode code, ValueRange x) { return code.make<arith::XOrIOp>(x); }
};

template <> struct ScalarFunction<ShiftLeftOp> : ComputedFunction<ShiftLeftOp> {
  template <class T> static T evaluate(ShiftLeftOp op, ArrayRef<T> x) {
    return onBits(x, [bits = widthOf(op.getLhs())](uint64_t a, uint64_t b) { return b < bits ? a << b : 0; });
  }
  static Value emit(ShiftLeftOp, ScalarCode code, ValueRange x) {
    return zeroWhereAllBitsLeave(code, x[1], code.make<arith::ShLIOp>({x[0], clampShift(code, x[1])}));
  }
};

template <> struct ScalarFunction<ShiftRightOp> : ComputedFunction<ShiftRightOp> {
  template <class T> static T evaluate(ShiftRightOp op, ArrayRef<T> x) {
    return onBits(
        x, [last = widthOf(op.getLhs()) - 1](int64_t a, uint64_t b) { return a >> std::min(b, last); });
  }
  static Value emit(ShiftRightOp, ScalarCode code, ValueRange x) {
    return code.make<arith::ShRSIOp>({x[0], clampShift(code, x[1])});
  }
};

template <> struct ScalarFunction<ShiftRightLogicalOp> : ComputedFunction<ShiftRightLogicalOp> {
  template <class T> static T evaluate(ShiftRightLogicalOp op, ArrayRef<T> x) {
    return onBits(x, [bits = widthOf(op.getLhs())](uint64_t a, uint64_t b) {
      return b < bits ? (a << (64 - bits)) >> (64 - bits) >> b : 0;
    });
  }
  static Value emit(ShiftRightLogicalOp, ScalarCode code, ValueRange x) {
    return zeroWhereAllBitsLeave(code, x[1], code.make<arith::ShRUIOp>({x[0], clampShift(code, x[1])}));
  }
};

template <> struct ScalarFunction<CompareOp> : ComputedFunction<CompareOp> {
  static ScalarEvaluator evaluator(CompareOp op) {
    return evaluateComparison(elementTypeOf(op.getLhs()), op.getPredicate());
  }
  static Value emit(CompareOp op, ScalarCode code, ValueRange x) {
    return emitComparison(code, op.getPredicate(), x[0], x[1]);
  }
};

//===- Three operands -===//

/// Moves bits: nothing rounds.
template <> struct ScalarFunction<SelectOp> : ComputedFunction<SelectOp> {
  static ScalarEvaluator evaluator(SelectOp) {
    return [](ArrayRef<uint64_t> x) { return x[0] ? x[1] : x[2]; };
  }
  static Value emitScalar(SelectOp, OpBuilder &builder, Location loc, ValueRange x) {
    return ScalarCode{builder, loc}.select(x[0], x[1], x[2]);
  }
};

template <> struct ScalarFunction<ClampOp> : ComputedFunction<ClampOp> {
  template <class T> static T evaluate(ClampOp, ArrayRef<T> x) { return minimum(maximum(x[0], x[1]), x[2]); }
  static Value emit(ClampOp, ScalarCode code, ValueRange x) {
    Value raised = code.make<arith::MaximumFOp, arith::MaxSIOp>({x[0], x[1]});
    return code.make<arith::MinimumFOp, arith::MinSIOp>({raised, x[2]});
  }
};

template <> struct ScalarFunction<FmaOp> : ComputedFunction<FmaOp> {
  template <class T> static T evaluate(FmaOp, ArrayRef<T> x) {
    return static_cast<T>(std::fma(x[0], x[1], x[2]));
  }
  static Value emit(FmaOp, ScalarCode code, ValueRange x) { return code.make<math::FmaOp>(x); }
};
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_SCALARFUNCTIONS_H
