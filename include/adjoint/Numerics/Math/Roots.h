// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// sqrt and recip, which the hardware rounds correctly, and rsqrt with one correction step.
#ifndef ADJOINT_NUMERICS_MATH_ROOTS_H
#define ADJOINT_NUMERICS_MATH_ROOTS_H

#include "adjoint/Numerics/Math/Core.h"

namespace mlir::ad::numerics {

template <class T, class B> V<B, T> sqrt(B &b, V<B, T> x) { return b.sqrt(x); }

template <class T, class B> V<B, T> recip(B &b, V<B, T> x) { return b.constant(T(1)) / x; }

/// y = 1/s, s = sqrt x rounded; then y (1 + (1 - s y) - (x - s^2) / 2x), both differences exact.
template <class T, class B> V<B, T> rsqrt(B &b, V<B, T> x) {
  // Even powers of two bring small arguments to where x - s^2 does not underflow.
  constexpr int shift = 2 * (FloatLayout<T>::mantissa + FloatLayout<T>::mantissa % 2);
  constexpr T up = T(BitsOf<T>(1) << (shift / 2)) * T(BitsOf<T>(1) << (shift / 2));
  constexpr T back = T(BitsOf<T>(1) << (shift / 2));
  V<B, bool> small = x < T(1) / (std::numeric_limits<T>::max() * T(0x1p-60));
  V<B, T> argument = b.select(small, x * up, x);
  V<B, T> root = b.sqrt(argument);
  V<B, T> first = b.constant(T(1)) / root;
  V<B, T> rest = b.fma(-root, root, argument) * T(0.5) * (first * first);
  V<B, T> result = b.fma(first, b.fma(-root, first, b.constant(T(1))) - rest, first);
  result = b.select(small, result * back, result);
  // 1/sqrt of the zeros, infinity, negative numbers and NaN come from the plain quotient.
  V<B, bool> plain = b.logicalOr(x == T(0), b.logicalNot(absolute<T>(b, x) < infinity<T>()));
  return b.select(plain, b.constant(T(1)) / b.sqrt(x), result);
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_ROOTS_H
