// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits single `arith` operations on scalars, or on fixed one-dimensional vectors of any length. ArithBuilder
// is made of them.
#ifndef ADJOINT_NUMERICS_MATH_ARITHEMITTER_H
#define ADJOINT_NUMERICS_MATH_ARITHEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include <cstdint>
#include <type_traits>

namespace mlir::ad::numerics {

class ArithEmitter;

/// A value of element type T, with the emitter of the operations that use it.
template <class T> struct Emitted {
  ArithEmitter *emitter = nullptr;
  Value value;
};

class ArithEmitter {
public:
  /// `shape` is the scalar or vector type of any operand; its element type does not matter.
  ArithEmitter(OpBuilder &builder, Location loc, Type shape)
      : builder(builder), loc(loc), vector(dyn_cast<VectorType>(shape)) {}

  template <class T> Emitted<T> wrap(Value value) { return {this, value}; }
  template <class T> Emitted<T> constant(T value);

  template <class Op, class T> Emitted<T> binary(Emitted<T> a, Emitted<T> b) {
    return wrap<T>(Op::create(builder, loc, a.value, b.value));
  }
  Emitted<bool> compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return wrap<bool>(arith::CmpIOp::create(builder, loc, predicate, a, b));
  }
  Emitted<bool> compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return wrap<bool>(arith::CmpFOp::create(builder, loc, predicate, a, b));
  }
  template <class T> Emitted<T> negate(Emitted<T> x) {
    return wrap<T>(arith::NegFOp::create(builder, loc, x.value));
  }

  template <class To, class From> Emitted<To> bitcast(Emitted<From> x) {
    return convert<arith::BitcastOp, To>(x);
  }
  template <class Op, class To, class From> Emitted<To> convert(Emitted<From> x) {
    return wrap<To>(convertTo<Op>(x.value, elementType<To>()));
  }
  template <class Op> Value convertTo(Value x, Type element) {
    return Op::create(builder, loc, shaped(element), x);
  }

protected:
  OpBuilder &builder;
  Location loc;
  VectorType vector;
  /// Each constant is emitted once per function, which keeps the emitted code short.
  llvm::DenseMap<Attribute, Value> constants;

private:
  /// `element` with the shape of this emitter.
  Type shaped(Type element) const {
    return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
  }
  template <class T> Type elementType();
  Value emitConstant(TypedAttr attribute);
};

template <class T> Type ArithEmitter::elementType() {
  if constexpr (std::is_same_v<T, float>)
    return builder.getF32Type();
  else if constexpr (std::is_same_v<T, double>)
    return builder.getF64Type();
  else
    return builder.getIntegerType(std::is_same_v<T, bool> ? 1 : 8 * sizeof(T));
}

template <class T> Emitted<T> ArithEmitter::constant(T value) {
  Type element = elementType<T>();
  TypedAttr attribute;
  if constexpr (std::is_floating_point_v<T>)
    attribute = FloatAttr::get(element, APFloat(value));
  else
    attribute =
        IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(value)));
  return wrap<T>(emitConstant(attribute));
}

/// A constant may be the right operand only if it has the very type of the left one: 0.5 next to a float is a
/// mistake.
template <class T, class U>
using ConstantOf =
    std::enable_if_t<std::is_floating_point_v<T> ? std::is_same_v<T, U>
                                                 : std::is_integral_v<U> && !std::is_same_v<T, bool>,
                     int>;

#define ADJOINT_OPERATOR(SYMBOL, FLOAT, INTEGER)                                                             \
  template <class T> Emitted<T> operator SYMBOL(Emitted<T> a, Emitted<T> b) {                                \
    if constexpr (std::is_floating_point_v<T>)                                                               \
      return a.emitter->template binary<FLOAT>(a, b);                                                        \
    else                                                                                                     \
      return a.emitter->template binary<INTEGER>(a, b);                                                      \
  }                                                                                                          \
  template <class T, class U, ConstantOf<T, U> = 0> Emitted<T> operator SYMBOL(Emitted<T> a, U b) {          \
    return a SYMBOL a.emitter->constant(static_cast<T>(b));                                                  \
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
      return a.emitter->compare(arith::CmpFPredicate::FLOAT, a.value, b.value);                              \
    else                                                                                                     \
      return a.emitter->compare(arith::CmpIPredicate::INTEGER, a.value, b.value);                            \
  }                                                                                                          \
  template <class T, class U, ConstantOf<T, U> = 0> Emitted<bool> operator SYMBOL(Emitted<T> a, U b) {       \
    return a SYMBOL a.emitter->constant(static_cast<T>(b));                                                  \
  }
ADJOINT_COMPARISON(==, OEQ, eq)
ADJOINT_COMPARISON(!=, UNE, ne)
ADJOINT_COMPARISON(<, OLT, ult)
ADJOINT_COMPARISON(<=, OLE, ule)
ADJOINT_COMPARISON(>, OGT, ugt)
ADJOINT_COMPARISON(>=, OGE, uge)
#undef ADJOINT_COMPARISON

template <class T> Emitted<T> operator-(Emitted<T> a) { return a.emitter->negate(a); }

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_ARITHEMITTER_H
