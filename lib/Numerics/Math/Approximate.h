// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shorter forms of some functions in float, which the permission `approx` allows: quotients of polynomials in
// x^2, with one division. Errors, over all finite x:
//   tanh, erf               2^-17 of the result
//   sigmoid                 2^-18
//   gelu, gelu_tanh, silu   2^-17 |x|
// Zeros keep their sign, and NaN stays NaN. If the limit at -infinity is 0, the approximation is a number
// between -2^-16 and 0.
#ifndef ADJOINT_LIB_NUMERICS_MATH_APPROXIMATE_H
#define ADJOINT_LIB_NUMERICS_MATH_APPROXIMATE_H

#include "Core.h"

namespace mlir::ad::numerics {

/// x P(x^2) / Q(x^2), with x clamped to the range of the polynomials. At the ends of the range the function
/// is +-1.
template <class B, int P, int Q>
V<B, float> oddQuotient(B &b, V<B, float> x, float range, const Table<float, P> &numerator,
                        const Table<float, Q> &denominator) {
  V<B, float> clamped = clampMin<float>(b, clampMax<float>(b, x, range), -range), square = clamped * clamped;
  V<B, float> top = clamped * polynomial<float>(b, square, numerator);
  return top / polynomial<float>(b, square, denominator);
}

template <class B> V<B, float> approximateTanh(B &b, V<B, float> x) {
  return oddQuotient<B>(b, x, tanhRange, tanhNumerator, tanhDenominator);
}

template <class B> V<B, float> approximateErf(B &b, V<B, float> x) {
  return oddQuotient<B>(b, x, erfRange, erfNumerator, erfDenominator);
}

template <class B> V<B, float> approximateSigmoid(B &b, V<B, float> x) {
  return b.fma(approximateTanh<B>(b, x * 0.5f), b.constant(0.5f), b.constant(0.5f));
}

/// x/2 (1 + t). Below `lowest` t is within 2^-22 of -1, and the result is a constant.
template <class B> V<B, float> halfOf(B &b, V<B, float> x, V<B, float> t, float lowest) {
  V<B, float> half = clampMin<float>(b, x, lowest) * 0.5f;
  return half * (t + 1.0f);
}

template <class B> V<B, float> approximateGelu(B &b, V<B, float> x) {
  return halfOf<B>(b, x, approximateErf<B>(b, x * float(0.70710678118654752)), -6.0f);
}

template <class B> V<B, float> approximateGeluTanh(B &b, V<B, float> x) {
  // Beyond 12 the tangent is 1 and the cube could overflow.
  V<B, float> clamped = clampMin<float>(b, clampMax<float>(b, x, 12.0f), -12.0f);
  constexpr float scale = 0.79788456080286536f, cubic = 0.035677408136300125f; // sqrt(2/pi), 0.044715 of it
  V<B, float> inner = clamped * b.fma(clamped * clamped, b.constant(cubic), b.constant(scale));
  return halfOf<B>(b, x, approximateTanh<B>(b, inner), -6.0f);
}

template <class B> V<B, float> approximateSilu(B &b, V<B, float> x) {
  return halfOf<B>(b, x, approximateTanh<B>(b, x * 0.5f), -2.0f * tanhRange);
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_APPROXIMATE_H
