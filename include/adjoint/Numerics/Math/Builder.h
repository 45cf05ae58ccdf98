// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Builders, over which the elementary functions and the casts are templates. One definition of a function
// serves two builders: ScalarBuilder computes, and ArithBuilder emits the same operations as code.
//
// A builder B has
// - values B::Of<T> of T = float, double, uint32_t, uint64_t or bool; integers have no sign, operations do;
// - the operators + - * / & | ^ << >> and comparisons, also with a constant of type T on the right;
// - the members of ScalarBuilder and of its parts: bits, conversions, integers, logic.
#ifndef ADJOINT_NUMERICS_MATH_BUILDER_H
#define ADJOINT_NUMERICS_MATH_BUILDER_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

namespace mlir::ad::numerics {

template <class B, class T> using V = typename B::template Of<T>;

/// Layout of the IEEE types in which functions are computed.
template <class T> struct FloatLayout;
template <> struct FloatLayout<float> {
  using Bits = uint32_t;
  static constexpr int width = 32, mantissa = 23, bias = 127;
};
template <> struct FloatLayout<double> {
  using Bits = uint64_t;
  static constexpr int width = 64, mantissa = 52, bias = 1023;
};
template <class T> using BitsOf = typename FloatLayout<T>::Bits;

/// Floats as their bits, and back.
struct ScalarBits {
  uint32_t bits(float x) { return copy<uint32_t>(x); }
  uint64_t bits(double x) { return copy<uint64_t>(x); }
  float fromBits(uint32_t x) { return copy<float>(x); }
  double fromBits(uint64_t x) { return copy<double>(x); }

private:
  template <class To, class From> static To copy(From from) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
  }
};

/// `Signed` means that an integer is in two's complement.
struct ScalarConversions {
  double widen(float x) { return x; }
  uint64_t widen(uint32_t x) { return x; }
  uint64_t widenSigned(uint32_t x) {
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(x)));
  }
  float narrow(double x) { return static_cast<float>(x); }
  uint32_t narrow(uint64_t x) { return static_cast<uint32_t>(x); }
  double signedToDouble(uint32_t x) { return static_cast<int32_t>(x); }
  double signedToDouble(uint64_t x) { return static_cast<double>(static_cast<int64_t>(x)); }
  float signedToFloat(uint64_t x) { return static_cast<float>(static_cast<int64_t>(x)); }
  /// Rounds towards zero; the result has to fit.
  template <class I, class T> I toSigned(T x) {
    return static_cast<I>(static_cast<std::make_signed_t<I>>(x));
  }
};

struct ScalarIntegers {
  bool lessSigned(uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b); }
  bool lessSigned(uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b); }
  uint32_t shiftRightSigned(uint32_t a, int n) { return static_cast<uint32_t>(static_cast<int32_t>(a) >> n); }
  uint64_t shiftRightSigned(uint64_t a, int n) { return static_cast<uint64_t>(static_cast<int64_t>(a) >> n); }
  /// Shifts by a variable amount, less than the width.
  template <class T> T shiftLeft(T a, T n) { return a << n; }
  template <class T> T shiftRight(T a, T n) { return a >> n; }
};

struct ScalarLogic {
  bool logicalAnd(bool a, bool b) { return a && b; }
  bool logicalOr(bool a, bool b) { return a || b; }
  bool logicalNot(bool a) { return !a; }
};

/// Computes at once. Has to be compiled without contraction of multiply-adds.
struct ScalarBuilder : ScalarBits, ScalarConversions, ScalarIntegers, ScalarLogic {
  template <class T> using Of = T;

  template <class T> T constant(T value) { return value; }
  template <class T> T select(bool condition, T yes, T no) { return condition ? yes : no; }

  /// `usual`, or the result of `slow` if the condition holds, which is rare. Emitted code branches around
  /// `slow` unless the condition holds for an element of the vector.
  template <class... T, class Slow>
  std::tuple<T...> rarely(bool condition, std::tuple<T...> usual, Slow slow) {
    return condition ? slow() : usual;
  }

  float fma(float a, float b, float c) { return std::fma(a, b, c); }
  double fma(double a, double b, double c) { return std::fma(a, b, c); }
  float sqrt(float x) { return std::sqrt(x); }
  double sqrt(double x) { return std::sqrt(x); }
};

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_BUILDER_H
