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
template <class T, class B> Logistic<B, T> normalTail(B &b, V<B, T> x) {
  Pair<B, T> square = twoProduct<T>(b, x, x);
  ExpPair<B, T> e = expPair<T>(b, {square.high * T(-0.5), square.low * T(-0.5)});
  return {multiply<T>(b, onePlus<T>(b, e.q), millsRatio<T>(b, x)), e.k};
}

/// x Phi(x).
template <class T, class B> V<B, T> gelu(B &b, V<B, T> x) {
  constexpr T end = sizeof(T) == 4 ? T(14.5) : T(39);
  V<B, T> magnitude = atMost<T>(b, absolute<T>(b, x), end);
  Logistic<B, T> tail = normalTail<T>(b, magnitude);
  V<B, T> factor = powerOrZero<T>(b, tail.k, FloatLayout<T>::mantissa + 20);
  Pair<B, T> rest = fastTwoSum<T>(b, b.constant(T(1)), -(tail.value.high * factor));
  rest.low = b.fma(-tail.value.low, factor, rest.low);
  V<B, bool> positive = x >= T(0);
  Pair<B, T> phi = selectPair<T>(b, positive, rest, tail.value);
  V<B, BitsOf<T>> k = b.select(positive, b.constant(BitsOf<T>(0)), tail.k);
  V<B, T> result = scale<T>(b, multiply<T>(b, phi, b.select(positive, magnitude, -magnitude)).high, k);
  result = b.select(x > end, x, keepNaN<T>(b, x, result));
  return b.select(absolute<T>(b, x) < T(1e-30), x * T(0.5), result);
}

/// x (2/sqrt(pi) + x^2 P(x^2)), |x| <= 1; for larger |x| 1 - 2 Phi(-sqrt(2) x).
template <class T, class B> V<B, T> erf(B &b, V<B, T> x) {
  constexpr T end = sizeof(T) == 4 ? T(4.5) : T(6.5);
  V<B, T> magnitude = atMost<T>(b, absolute<T>(b, x), end);
  V<B, T> inner = atMost<T>(b, magnitude, T(1)), square = inner * inner;
  Pair<B, T> linear = multiply<T>(b, pairOf<T>(b, twoOverSqrtPi<T>), inner);
  V<B, T> small = linear.high + b.fma(inner * square, polynomial<T>(b, square, erfTail<T>), linear.low);

  Pair<B, T> argument = twoProduct<T>(b, magnitude, magnitude);
  ExpPair<B, T> e = expPair<T>(b, negate<T>(b, argument));
  Pair<B, T> power = onePlus<T>(b, e.q);
  V<B, T> ratio = millsRatio<T>(b, magnitude * sqrt2<T>.high).high * T(2);
  V<B, T> large = b.constant(T(1)) - power.high * powerOfTwo<T>(b, e.k) * ratio;

  V<B, T> result = b.select(magnitude < T(1), small, large);
  // 2/sqrt(pi) x of a tiny x in one rounding: scaled up, the pair does not lose its low part.
  constexpr T up =
      T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 1)) * T(BitsOf<T>(1) << FloatLayout<T>::mantissa);
  V<B, T> scaled = multiply<T>(b, pairOf<T>(b, twoOverSqrtPi<T>), inner * up).high * (T(1) / up);
  constexpr T tiny = std::numeric_limits<T>::min() * T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 2));
  result = b.select(magnitude < tiny, scaled, result);
  return keepNaN<T>(b, x, flipSign<T>(b, result, signOf<T>(b, x)));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_ERRORFUNCTION_H
