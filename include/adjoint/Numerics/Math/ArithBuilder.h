// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The builder that emits: each operation becomes one `arith` operation (or math.fma, math.sqrt, which round
// correctly) on scalars, or on fixed one-dimensional vectors of any length; `rarely` becomes an scf.if.
#ifndef ADJOINT_NUMERICS_MATH_ARITHBUILDER_H
#define ADJOINT_NUMERICS_MATH_ARITHBUILDER_H

#include "adjoint/Numerics/Math/Builder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include <tuple>
#include <type_traits>

namespace mlir::ad::numerics {

class ArithBuilder;

/// A value of element type T with the builder that continues from it.
template <class T> struct Emitted {
  ArithBuilder *builder = nullptr;
  Value value;
};

class ArithBuilder {
public:
  template <class T> using Of = Emitted<T>;

  /// `shape` is the scalar or vector type of any operand: its element type does not matter.
  ArithBuilder(OpBuilder &builder, Location loc, Type shape)
      : builder(builder), loc(loc), vector(dyn_cast<VectorType>(shape)) {}

  template <class T> Emitted<T> wrap(Value value) { return {this, value}; }

  template <class T> Emitted<T> constant(T value);
  template <class T> Emitted<T> select(Emitted<bool> condition, Emitted<T> yes, Emitted<T> no);

  template <class... T, class Slow>
  std::tuple<Emitted<T>...> rarely(Emitted<bool> condition, std::tuple<Emitted<T>...> usual, Slow slow) {
    llvm::SmallVector<Value> values =
        std::apply([](auto... value) { return valuesOf(value.value...); }, usual);
    llvm::SmallVector<Value> results = emitBranch(condition.value, values, [&] {
      return std::apply([](auto... value) { return valuesOf(value.value...); }, slow());
    });
    size_t next = 0;
    return std::tuple<Emitted<T>...>{Emitted<T>{this, results[next++]}...};
  }

  template <class T> Emitted<T> fma(Emitted<T> a, Emitted<T> b, Emitted<T> c) {
    return wrap<T>(emitFma(a.value, b.value, c.value));
  }
  template <class T> Emitted<T> sqrt(Emitted<T> x) { return wrap<T>(emitSqrt(x.value)); }

  Emitted<uint32_t> bits(Emitted<float> x) { return bitcast<uint32_t>(x.value); }
  Emitted<uint64_t> bits(Emitted<double> x) { return bitcast<uint64_t>(x.value); }
  Emitted<float> fromBits(Emitted<uint32_t> x) { return bitcast<float>(x.value); }
  Emitted<double> fromBits(Emitted<uint64_t> x) { return bitcast<double>(x.value); }

  Emitted<double> widen(Emitted<float> x) { return convert<arith::ExtFOp, double>(x.value); }
  Emitted<uint64_t> widen(Emitted<uint32_t> x) { return convert<arith::ExtUIOp, uint64_t>(x.value); }
  Emitted<uint64_t> widenSigned(Emitted<uint32_t> x) { return convert<arith::ExtSIOp, uint64_t>(x.value); }
  Emitted<float> narrow(Emitted<double> x) { return convert<arith::TruncFOp, float>(x.value); }
  Emitted<uint32_t> narrow(Emitted<uint64_t> x) { return convert<arith::TruncIOp, uint32_t>(x.value); }

  template <class T> Emitted<bool> lessSigned(Emitted<T> a, Emitted<T> b) {
    return compare(arith::CmpIPredicate::slt, a.value, b.value);
  }
  template <class T> Emitted<T> shiftRightSigned(Emitted<T> a, int n) {
    return binary<arith::ShRSIOp>(a, constant(static_cast<T>(n)));
  }
  template <class T> Emitted<double> signedToDouble(Emitted<T> a) {
    return convert<arith::SIToFPOp, double>(a.value);
  }
  template <class T> Emitted<float> signedToFloat(Emitted<T> a) {
    return convert<arith::SIToFPOp, float>(a.value);
  }
  template <class I, class T> Emitted<I> toSigned(Emitted<T> x) {
    return convert<arith::FPToSIOp, I>(x.value);
  }

  template <class T> Emitted<T> shiftLeft(Emitted<T> a, Emitted<T> n) { return binary<arith::ShLIOp>(a, n); }
  template <class T> Emitted<T> shiftRight(Emitted<T> a, Emitted<T> n) {
    return binary<arith::ShRUIOp>(a, n);
  }

  Emitted<bool> logicalAnd(Emitted<bool> a, Emitted<bool> b) { return binary<arith::AndIOp>(a, b); }
  Emitted<bool> logicalOr(Emitted<bool> a, Emitted<bool> b) { return binary<arith::OrIOp>(a, b); }
  Emitted<bool> logicalNot(Emitted<bool> a) { return binary<arith::XOrIOp>(a, constant(true)); }

  /// One operation on operands of the same type; the operators below and the casts use them.
  template <class Op, class T> Emitted<T> binary(Emitted<T> a, Emitted<T> b) {
    return wrap<T>(Op::create(builder, loc, a.value, b.value));
  }
  Emitted<bool> compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return wrap<bool>(arith::CmpIOp::create(builder, loc, predicate, a, b));
  }
  Emitted<bool> compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return wrap<bool>(arith::CmpFOp::create(builder, loc, predicate, a, b));
  }
  Value negate(Value x) { return arith::NegFOp::create(builder, loc, x); }
  /// `element` with the shape of this builder.
  Type shaped(Type element) const {
    return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
  }
  template <class Op> Value convertTo(Value x, Type element) {
    return Op::create(builder, loc, shaped(element), x);
  }
  template <class T> Type elementType();

private:
  template <class T> Emitted<T> bitcast(Value x) {
    return wrap<T>(convertTo<arith::BitcastOp>(x, elementType<T>()));
  }
  template <class Op, class T> Emitted<T> convert(Value x) {
    return wrap<T>(convertTo<Op>(x, elementType<T>()));
  }
  template <class... Values> static llvm::SmallVector<Value> valuesOf(Values... values) {
    return {values...};
  }
  /// `usual`, replaced by what `slow` emits for the elements whose condition holds, if any does.
  llvm::SmallVector<Value> emitBranch(Value condition, ValueRange usual,
                                      llvm::function_ref<llvm::SmallVector<Value>()> slow);
  Value emitFma(Value a, Value b, Value c);
  Value emitSqrt(Value x);
  Value emitConstant(TypedAttr attribute);

  OpBuilder &builder;
  Location loc;
  VectorType vector;
  /// Each constant once per function text, which keeps the emitted code short.
  llvm::DenseMap<Attribute, Value> constants;
};

template <class T> Type ArithBuilder::elementType() {
  if constexpr (std::is_same_v<T, float>)
    return builder.getF32Type();
  else if constexpr (std::is_same_v<T, double>)
    return builder.getF64Type();
  else
    return builder.getIntegerType(std::is_same_v<T, bool> ? 1 : 8 * sizeof(T));
}

template <class T> Emitted<T> ArithBuilder::constant(T value) {
  Type element = elementType<T>();
  TypedAttr attribute;
  if constexpr (std::is_floating_point_v<T>)
    attribute = FloatAttr::get(element, APFloat(value));
  else
    attribute =
        IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(value)));
  return wrap<T>(emitConstant(attribute));
}

template <class T> Emitted<T> ArithBuilder::select(Emitted<bool> condition, Emitted<T> yes, Emitted<T> no) {
  if (yes.value == no.value)
    return yes;
  return wrap<T>(arith::SelectOp::create(builder, loc, condition.value, yes.value, no.value));
}

/// A constant may take the place of a value only when its type is the very same: 0.5 next to a float is a
/// mistake.
template <class T, class U>
using ConstantOf =
    std::enable_if_t<std::is_floating_point_v<T> ? std::is_same_v<T, U>
                                                 : std::is_integral_v<U> && !std::is_same_v<T, bool>,
                     int>;

#define ADJOINT_OPERATOR(SYMBOL, FLOAT, INTEGER)                                                             \
  template <class T> Emitted<T> operator SYMBOL(Emitted<T> a, Emitted<T> b) {                                \
    if constexpr (std::is_floating_point_v<T>)                                                               \
      return a.builder->template binary<FLOAT>(a, b);                                                        \
    else                                                                                                     \
      return a.builder->template binary<INTEGER>(a, b);                                                      \
  }                                                                                                          \
  template <class T, class U, ConstantOf<T, U> = 0> Emitted<T> operator SYMBOL(Emitted<T> a, U b) {          \
    return a SYMBOL a.builder->constant(static_cast<T>(b));                                                  \
  }
ADJOINT_OPERATOR(+, arith::AddFOp, arith::AddIOp)
ADJOINT_OPERATOR(-, arith::SubFOp, arith::SubIOp)
ADJOINT_OPERATOR(*, arith::MulFOp, arith::MulIOp)
ADJOINT_OPERATOR(/, arith::DivFOp, arith::DivUIOp)
ADJOINT_OPERATOR(&, void, arith::AndIOp)
ADJOINT_OPERATOR(|, void, arith::OrIOp)
ADJOINT_OPERATOR(^, void, arith::XOrIOp)
ADJOINT_OPERATOR(<<, void, arith::ShLIOp)
ADJOINT_OPERATOR(>>, void, arith::ShRUIOp)
#undef ADJOINT_OPERATOR

#define ADJOINT_COMPARISON(SYMBOL, FLOAT, INTEGER)                                                           \
  template <class T> Emitted<bool> operator SYMBOL(Emitted<T> a, Emitted<T> b) {                             \
    if constexpr (std::is_floating_point_v<T>)                                                               \
      return a.builder->compare(arith::CmpFPredicate::FLOAT, a.value, b.value);                              \
    else                                                                                                     \
      return a.builder->compare(arith::CmpIPredicate::INTEGER, a.value, b.value);                            \
  }                                                                                                          \
  template <class T, class U, ConstantOf<T, U> = 0> Emitted<bool> operator SYMBOL(Emitted<T> a, U b) {       \
    return a SYMBOL a.builder->constant(static_cast<T>(b));                                                  \
  }
ADJOINT_COMPARISON(==, OEQ, eq)
ADJOINT_COMPARISON(!=, UNE, ne)
ADJOINT_COMPARISON(<, OLT, ult)
ADJOINT_COMPARISON(<=, OLE, ule)
ADJOINT_COMPARISON(>, OGT, ugt)
ADJOINT_COMPARISON(>=, OGE, uge)
#undef ADJOINT_COMPARISON

template <class T> Emitted<T> operator-(Emitted<T> a) {
  return a.builder->template wrap<T>(a.builder->negate(a.value));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_ARITHBUILDER_H
