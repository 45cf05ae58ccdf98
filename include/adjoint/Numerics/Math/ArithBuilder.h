// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The builder that emits code: each operation becomes one `arith` operation (or math.fma or math.sqrt, which
// round correctly) on scalars, or on fixed one-dimensional vectors of any length; `rarely` becomes an scf.if.
// Its parts are those of ScalarBuilder.
#ifndef ADJOINT_NUMERICS_MATH_ARITHBUILDER_H
#define ADJOINT_NUMERICS_MATH_ARITHBUILDER_H

#include "adjoint/Numerics/Math/ArithEmitter.h"
#include "adjoint/Numerics/Math/Builder.h"
#include <tuple>

namespace mlir::ad::numerics {

struct ArithBits {
  Emitted<uint32_t> bits(Emitted<float> x) { return x.emitter->bitcast<uint32_t>(x); }
  Emitted<uint64_t> bits(Emitted<double> x) { return x.emitter->bitcast<uint64_t>(x); }
  Emitted<float> fromBits(Emitted<uint32_t> x) { return x.emitter->bitcast<float>(x); }
  Emitted<double> fromBits(Emitted<uint64_t> x) { return x.emitter->bitcast<double>(x); }
};

struct ArithConversions {
  Emitted<double> widen(Emitted<float> x) { return x.emitter->convert<arith::ExtFOp, double>(x); }
  Emitted<uint64_t> widen(Emitted<uint32_t> x) { return x.emitter->convert<arith::ExtUIOp, uint64_t>(x); }
  Emitted<uint64_t> widenSigned(Emitted<uint32_t> x) {
    return x.emitter->convert<arith::ExtSIOp, uint64_t>(x);
  }
  Emitted<float> narrow(Emitted<double> x) { return x.emitter->convert<arith::TruncFOp, float>(x); }
  Emitted<uint32_t> narrow(Emitted<uint64_t> x) { return x.emitter->convert<arith::TruncIOp, uint32_t>(x); }
  template <class T> Emitted<double> signedToDouble(Emitted<T> x) {
    return x.emitter->template convert<arith::SIToFPOp, double>(x);
  }
  template <class T> Emitted<float> signedToFloat(Emitted<T> x) {
    return x.emitter->template convert<arith::SIToFPOp, float>(x);
  }
  template <class I, class T> Emitted<I> toSigned(Emitted<T> x) {
    return x.emitter->template convert<arith::FPToSIOp, I>(x);
  }
};

struct ArithIntegers {
  template <class T> Emitted<bool> lessSigned(Emitted<T> a, Emitted<T> b) {
    return a.emitter->compare(arith::CmpIPredicate::slt, a.value, b.value);
  }
  template <class T> Emitted<T> shiftRightSigned(Emitted<T> a, int n) {
    return a.emitter->template binary<arith::ShRSIOp>(a, a.emitter->constant(static_cast<T>(n)));
  }
  template <class T> Emitted<T> shiftLeft(Emitted<T> a, Emitted<T> n) {
    return a.emitter->template binary<arith::ShLIOp>(a, n);
  }
  template <class T> Emitted<T> shiftRight(Emitted<T> a, Emitted<T> n) {
    return a.emitter->template binary<arith::ShRUIOp>(a, n);
  }
};

struct ArithLogic {
  Emitted<bool> logicalAnd(Emitted<bool> a, Emitted<bool> b) {
    return a.emitter->binary<arith::AndIOp>(a, b);
  }
  Emitted<bool> logicalOr(Emitted<bool> a, Emitted<bool> b) { return a.emitter->binary<arith::OrIOp>(a, b); }
  Emitted<bool> logicalNot(Emitted<bool> a) {
    return a.emitter->binary<arith::XOrIOp>(a, a.emitter->constant(true));
  }
};

class ArithBuilder : public ArithEmitter,
                     public ArithBits,
                     public ArithConversions,
                     public ArithIntegers,
                     public ArithLogic {
public:
  template <class T> using Of = Emitted<T>;

  using ArithEmitter::ArithEmitter;

  template <class T> Emitted<T> select(Emitted<bool> condition, Emitted<T> yes, Emitted<T> no) {
    if (yes.value == no.value)
      return yes;
    return wrap<T>(arith::SelectOp::create(builder, loc, condition.value, yes.value, no.value));
  }

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

private:
  template <class... Values> static llvm::SmallVector<Value> valuesOf(Values... values) {
    return {values...};
  }
  /// An scf.if around `slow`, unless the condition holds for no element. Elements whose condition holds get
  /// the values that `slow` emits, the others keep `usual`.
  llvm::SmallVector<Value> emitBranch(Value condition, ValueRange usual,
                                      llvm::function_ref<llvm::SmallVector<Value>()> slow);
  Value emitFma(Value a, Value b, Value c);
  Value emitSqrt(Value x);
};

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_ARITHBUILDER_H
