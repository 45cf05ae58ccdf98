// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// sqrt and recip, which hardware rounds correctly, and rsqrt with one correction step.
#ifndef ADJOINT_LIB_NUMERICS_MATH_ROOTS_H
#define ADJOINT_LIB_NUMERICS_MATH_ROOTS_H

#include "Core.h"

namespace mlir::ad::numerics {

template <class T, class B> V<B, T> sqrt(B &b, V<B, T> x) { return b.sqrt(x); }

template <class T, class B> V<B, T> recip(B &b, V<B, T> x) { return b.constant(T(1)) / x; }

/// y = 1/s, s = sqrt x rounded; then y (1 + (1 - s y) - (x - s^2) / 2x), both differences exact.
template <class T, class B> V<B, T> rsqrtOfLarge(B &b, V<B, T> x) {
  V<B, T> root = b.sqrt(x), first = b.constant(T(1)) / root;
  V<B, T> rest = b.fma(-root, root, x) * T(0.5) * (first * first);
  return b.fma(first, b.fma(-root, first, b.constant(T(1))) - rest, first);
}

/// For small arguments, for which x - s^2 underflows: x is scaled by an even power of two.
template <class T, class B> V<B, T> rsqrtOfSmall(B &b, V<B, T> x) {
  constexpr int shift = 2 * (FloatLayout<T>::mantissa + FloatLayout<T>::mantissa % 2);
  constexpr T root = T(BitsOf<T>(1) << (shift / 2));
  return rsqrtOfLarge<T>(b, x * (root * root)) * root;
}

template <class T, class B> V<B, T> rsqrt(B &b, V<B, T> x) {
  V<B, bool> large =
      b.logicalAnd(x >= T(1) / (std::numeric_limits<T>::max() * T(0x1p-60)), x < infinity<T>());
  using Result = std::tuple<V<B, T>>;
  return std::get<0>(b.rarely(b.logicalNot(large), Result{rsqrtOfLarge<T>(b, x)}, [&] {
    // 1/sqrt of the zeros, infinity, negative numbers and NaN come from the plain quotient.
    V<B, bool> small = b.logicalAnd(x > T(0), x < infinity<T>());
    return Result{b.select(small, rsqrtOfSmall<T>(b, x), b.constant(T(1)) / b.sqrt(x))};
  }));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_ROOTS_H
