// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the texts of the elementary functions and casts are written over. A builder B has values B::Of<T> of T
// = float, double, uint32_t, uint64_t, bool (an integer or boolean is the element of the value, signedness
// lies in the operation), the operators + - * / & | ^ << >> and comparisons on them, also with a constant of
// type T on the right, and the members of ScalarBuilder below. ScalarBuilder computes; ArithBuilder emits the
// same operations.
#ifndef ADJOINT_NUMERICS_MATH_BUILDER_H
#define ADJOINT_NUMERICS_MATH_BUILDER_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

namespace mlir::ad::numerics {

template <class B, class T> using V = typename B::template Of<T>;

/// Layout of the IEEE types that functions are computed in.
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

/// Computes at once. Must be compiled without contraction of multiply-adds.
struct ScalarBuilder {
  template <class T> using Of = T;

  template <class T> T constant(T value) { return value; }
  template <class T> T select(bool condition, T yes, T no) { return condition ? yes : no; }

  /// `usual`, or what `slow` computes where the condition holds, which is seldom: emitted code branches
  /// around it unless it holds for an element of the vector.
  template <class... T, class Slow>
  std::tuple<T...> rarely(bool condition, std::tuple<T...> usual, Slow slow) {
    return condition ? slow() : usual;
  }

  float fma(float a, float b, float c) { return std::fma(a, b, c); }
  double fma(double a, double b, double c) { return std::fma(a, b, c); }
  float sqrt(float x) { return std::sqrt(x); }
  double sqrt(double x) { return std::sqrt(x); }

  uint32_t bits(float x) { return copy<uint32_t>(x); }
  uint64_t bits(double x) { return copy<uint64_t>(x); }
  float fromBits(uint32_t x) { return copy<float>(x); }
  double fromBits(uint64_t x) { return copy<double>(x); }

  double widen(float x) { return x; }
  uint64_t widen(uint32_t x) { return x; }
  uint64_t widenSigned(uint32_t x) {
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(x)));
  }
  float narrow(double x) { return static_cast<float>(x); }
  uint32_t narrow(uint64_t x) { return static_cast<uint32_t>(x); }

  /// Two's complement views of integers.
  bool lessSigned(uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b); }
  bool lessSigned(uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b); }
  uint32_t shiftRightSigned(uint32_t a, int n) { return static_cast<uint32_t>(static_cast<int32_t>(a) >> n); }
  uint64_t shiftRightSigned(uint64_t a, int n) { return static_cast<uint64_t>(static_cast<int64_t>(a) >> n); }
  double signedToDouble(uint32_t a) { return static_cast<int32_t>(a); }
  double signedToDouble(uint64_t a) { return static_cast<double>(static_cast<int64_t>(a)); }
  float signedToFloat(uint64_t a) { return static_cast<float>(static_cast<int64_t>(a)); }
  /// Towards zero, of a value that fits.
  template <class I, class T> I toSigned(T x) {
    return static_cast<I>(static_cast<std::make_signed_t<I>>(x));
  }

  /// Shifts by an amount that is itself a value, below the width.
  template <class T> T shiftLeft(T a, T n) { return a << n; }
  template <class T> T shiftRight(T a, T n) { return a >> n; }

  bool logicalAnd(bool a, bool b) { return a && b; }
  bool logicalOr(bool a, bool b) { return a || b; }
  bool logicalNot(bool a) { return !a; }

private:
  template <class To, class From> static To copy(From from) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
  }
};

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_BUILDER_H
