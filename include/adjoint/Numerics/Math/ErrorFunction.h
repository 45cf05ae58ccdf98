// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// erf and gelu, from Phi(-x), the tail of the normal distribution.
//
// Phi(-x) = e^(-x^2/2) M(x) / (2 + 2.5x) for x >= 0, where M stays between 0.97 and 1.09 on the whole half
// line and is one polynomial in (x - 4) / (x + 4).
#ifndef ADJOINT_NUMERICS_MATH_ERRORFUNCTION_H
#define ADJOINT_NUMERICS_MATH_ERRORFUNCTION_H

#include "adjoint/Numerics/Math/Exponential.h"

namespace mlir::ad::numerics {

/// M(x) / (2 + 2.5x), x >= 0.
template <class T, class B> Pair<B, T> millsRatio(B &b, V<B, T> x) {
  V<B, T> t = (x - T(4)) / (x + T(4));
  V<B, T> tail = b.constant(mills<T>.values[mills<T>.size - 1]);
  for (int i = mills<T>.size - 2; i >= 1; --i)
    tail = b.fma(tail, t, b.constant(mills<T>.values[i]));
  Pair<B, T> numerator = fastTwoSum<T>(b, b.constant(mills<T>.values[0]), tail * t);
  numerator.low = numerator.low + millsRest<T>;
  Pair<B, T> product = twoProduct<T>(b, x, b.constant(T(2.5)));
  Pair<B, T> denominator = twoSum<T>(b, product.high, b.constant(T(2)));
  denominator.low = denominator.low + product.low;
  return divide<T>(b, numerator, denominator);
}

/// Phi(-x), x >= 0: `value` times 2^k.
template <class T, class B> Scaled<B, T> normalTail(B &b, V<B, T> x) {
  Pair<B, T> square = twoProduct<T>(b, x, x);
  ExpPair<B, T> e = expPair<T>(b, {square.high * T(-0.5), square.low * T(-0.5)});
  return {multiply<T>(b, onePlus<T>(b, e.q), millsRatio<T>(b, x)), e.k};
}

/// erf(u) / u for u^2 = square, at most 1: the first two terms of the series as pairs, since they cancel.
template <class T, class B> Pair<B, T> erfSeries(B &b, Pair<B, T> square) {
  V<B, T> tail = b.constant(erfTail<T>.values[erfTail<T>.size - 1]);
  for (int i = erfTail<T>.size - 2; i >= 1; --i)
    tail = b.fma(tail, square.high, b.constant(erfTail<T>.values[i]));
  Pair<B, T> second = multiply<T>(b, square, Split<T>{erfTail<T>.values[0], erfTailRest<T>});
  second.low = b.fma(square.high * square.high, tail, second.low);
  return add<T>(b, pairOf<T>(b, twoOverSqrtPi<T>), second);
}

/// Phi(x), |x| <= 1.
template <class T, class B> Pair<B, T> normalCentre(B &b, V<B, T> x) {
  Pair<B, T> square = twoProduct<T>(b, x, x);
  Pair<B, T> series = erfSeries<T>(b, {square.high * T(0.5), square.low * T(0.5)});
  series = multiply<T>(b, series, Split<T>{sqrt2<T>.high * T(0.25), sqrt2<T>.low * T(0.25)});
  return add<T>(b, {b.constant(T(0.5)), b.constant(T(0))}, multiply<T>(b, series, x));
}

/// x Phi(x), Phi as 1/2 + ..., Phi(-|x|) or 1 - Phi(-|x|).
template <class T, class B> V<B, T> gelu(B &b, V<B, T> x) {
  constexpr T end = sizeof(T) == 4 ? T(14.5) : T(39);
  V<B, T> magnitude = absolute<T>(b, x), clamped = atMost<T>(b, magnitude, end);
  Scaled<B, T> tail = normalTail<T>(b, clamped);
  V<B, T> factor = powerOrZero<T>(b, tail.k, FloatLayout<T>::mantissa + 20);
  Pair<B, T> rest = fastTwoSum<T>(b, b.constant(T(1)), -(tail.value.high * factor));
  rest.low = b.fma(-tail.value.low, factor, rest.low);
  V<B, T> inner = b.select(magnitude < T(1), x, b.constant(T(0)));
  Pair<B, T> phi = selectPair<T>(b, x >= T(0), rest, tail.value);
  phi = selectPair<T>(b, magnitude < T(1), normalCentre<T>(b, inner), phi);
  V<B, bool> far = x <= T(-1);
  V<B, BitsOf<T>> k = b.select(far, tail.k, b.constant(BitsOf<T>(0)));
  V<B, T> argument = flipSign<T>(b, clamped, signOf<T>(b, x));
  V<B, T> result = scale<T>(b, multiply<T>(b, phi, argument).high, k);
  result = b.select(x == T(0), x, result);
  return b.select(x > end, x, result);
}

/// x (2/sqrt(pi) + x^2 P(x^2)), |x| <= 1; for larger |x| 1 - 2 Phi(-sqrt(2) x).
template <class T, class B> V<B, T> erf(B &b, V<B, T> x) {
  constexpr T end = sizeof(T) == 4 ? T(4.5) : T(6.5);
  V<B, T> magnitude = atMost<T>(b, absolute<T>(b, x), end);
  V<B, T> inner = atMost<T>(b, magnitude, T(1));
  Pair<B, T> series = erfSeries<T>(b, twoProduct<T>(b, inner, inner));
  V<B, T> small = multiply<T>(b, series, inner).high;

  ExpPair<B, T> e = expPair<T>(b, negate<T>(b, twoProduct<T>(b, magnitude, magnitude)));
  V<B, T> ratio = millsRatio<T>(b, magnitude * sqrt2<T>.high).high * T(2);
  V<B, T> large = b.constant(T(1)) - onePlus<T>(b, e.q).high * powerOfTwo<T>(b, e.k) * ratio;

  V<B, T> result = b.select(magnitude < T(1), small, large);
  // 2/sqrt(pi) x of a tiny x in one rounding: scaled up, the pair does not lose its low part.
  constexpr T up =
      T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 1)) * T(BitsOf<T>(1) << FloatLayout<T>::mantissa);
  V<B, T> scaled = multiply<T>(b, pairOf<T>(b, twoOverSqrtPi<T>), inner * up).high * (T(1) / up);
  constexpr T tiny = std::numeric_limits<T>::min() * T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 2));
  result = b.select(magnitude < tiny, scaled, result);
  return flipSign<T>(b, result, signOf<T>(b, x));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_ERRORFUNCTION_H
