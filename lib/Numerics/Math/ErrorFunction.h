// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// erf and gelu, from Phi(-x), the tail of the normal distribution.
//
// In double, and for large |x| in float, Phi(-x) = e^(-x^2/2) M(x) / (2 + 2.5x) for x >= 0. M is between 0.97
// and 1.09 for all x >= 0, and is one polynomial in (x - 4) / (x + 4). For x >= -5, gelu of float needs no
// division: it is an exponential function of a quadratic polynomial, times a factor close to 1.
#ifndef ADJOINT_LIB_NUMERICS_MATH_ERRORFUNCTION_H
#define ADJOINT_LIB_NUMERICS_MATH_ERRORFUNCTION_H

#include "Exponential.h"

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

/// erf(u) / u for u^2 = square, at most 1. The first two terms of the series are pairs, since they cancel.
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

/// x Phi(x) of double. Phi is 1/2 + ..., Phi(-|x|) or 1 - Phi(-|x|).
template <class B> V<B, double> geluOf(B &b, V<B, double> x) {
  using T = double;
  constexpr T end = 39;
  V<B, T> magnitude = absolute<T>(b, x), clamped = clampMax<T>(b, magnitude, end);
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

/// x Phi(x) for x < -5: -x Phi(-|x|), which may be subnormal; -0 from -14.5 on.
template <class B> V<B, float> geluFar(B &b, V<B, float> x) {
  V<B, float> clamped = clampMax<float>(b, -x, 14.5f);
  Scaled<B, float> tail = normalTail<float>(b, clamped);
  return -scale<float>(b, multiply<float>(b, tail.value, clamped).high, tail.k);
}

/// The exponent t (beta + alpha t) as a pair. alpha and beta are those of derive-coefficients.py. They have
/// so few digits that the rounding error of the sum is a float.
template <class B> Pair<B, float> geluExponent(B &b, V<B, float> t) {
  V<B, float> alpha = b.constant(0.44140625f), beta = b.constant(0.6640625f);
  V<B, float> slope = b.fma(t, alpha, beta), slopeLow = b.fma(t, alpha, beta - slope);
  Pair<B, float> product = twoProduct<float>(b, t, slope);
  return {product.high, b.fma(t, slopeLow, product.low)};
}

/// x Phi(x) of float: Phi(-t) = e^(-t (beta + alpha t)) (1 + y) / 2 with t = |x|. The power is 2^k (1 + r +
/// rest), and (1 + r + rest)(1 + y) = 1 + r + c, where |c| stays below 0.15. With h = t 2^(k-1) the result is
///   -h d - h e           for x < 0, where d + e is 1 + r + c,
///   (x - h) - h (r + c)  for 2^(k-1) = 1/2, where the difference is exact,
///   x - h (1 + r + c)    otherwise; h is small compared with x.
template <class B> V<B, float> geluOf(B &b, V<B, float> x) {
  // From 5 on the subtracted term is so small that the polynomial is accurate enough.
  V<B, float> t = clampMax<float>(b, absolute<float>(b, x), 5.5f);
  Pair<B, float> exponent = geluExponent<B>(b, t);
  Rounded<B, float> k = roundToInteger<float>(b, exponent.high, -invLn2<float>.high);
  V<B, float> high = b.fma(k.value, b.constant(-ln2<float>.high), -exponent.high); // exact
  V<B, float> low = b.fma(k.value, b.constant(-ln2<float>.low), -exponent.low);
  Pair<B, float> r = fastTwoSum<float>(b, high, low);
  V<B, float> rest = expRest<float>(b, r), d = r.high + 1.0f;
  V<B, float> y = t * polynomialInHalves<float>(b, t - 3.25f, geluTail<float>);
  V<B, float> c = b.fma(y, d + rest, rest), sum = r.high + c, e = (r.high - (d - 1.0f)) + c;
  V<B, float> h = t * powerOfTwo<float>(b, k.integer + uint32_t(-1));
  V<B, bool> negative = x < 0.0f, half = k.integer == uint32_t(0);
  V<B, float> base = b.select(negative, -h * e, b.select(half, x - h, x));
  V<B, float> factor = b.select(negative, d, b.select(half, sum, sum + 1.0f));
  V<B, float> usual = withSignOf<float>(b, b.fma(-h, factor, base), x); // the sign of a zero
  return within<B>(b, x < -5.0f, usual, [&] { return geluFar<B>(b, x); });
}
template <class T, class B> V<B, T> gelu(B &b, V<B, T> x) { return geluOf<B>(b, x); }

/// x (2/sqrt(pi) + x^2 P(x^2)), |x| <= 1; for larger |x| 1 - 2 Phi(-sqrt(2) x).
template <class B> V<B, double> erfOf(B &b, V<B, double> x) {
  using T = double;
  constexpr T end = 6.5;
  V<B, T> magnitude = clampMax<T>(b, absolute<T>(b, x), end);
  V<B, T> inner = clampMax<T>(b, magnitude, T(1));
  Pair<B, T> series = erfSeries<T>(b, twoProduct<T>(b, inner, inner));
  V<B, T> small = multiply<T>(b, series, inner).high;

  ExpPair<B, T> e = expPair<T>(b, negate<T>(b, twoProduct<T>(b, magnitude, magnitude)));
  V<B, T> ratio = millsRatio<T>(b, magnitude * sqrt2<T>.high).high * T(2);
  V<B, T> large = b.constant(T(1)) - onePlus<T>(b, e.q).high * powerOfTwo<T>(b, e.k) * ratio;

  V<B, T> result = b.select(magnitude < T(1), small, large);
  // 2/sqrt(pi) x of a tiny x in one rounding. It is scaled, so that the low part of the pair does not
  // underflow.
  constexpr T up =
      T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 1)) * T(BitsOf<T>(1) << FloatLayout<T>::mantissa);
  V<B, T> scaled = multiply<T>(b, pairOf<T>(b, twoOverSqrtPi<T>), inner * up).high * (T(1) / up);
  constexpr T tiny = std::numeric_limits<T>::min() * T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 2));
  result = b.select(magnitude < tiny, scaled, result);
  return flipSign<T>(b, result, signOf<T>(b, x));
}

/// x + x P(x^2) for |x| < 0.9375, where |P| is below 0.13. For larger |x| 1 - 2^(log2 erfc), whose second
/// term is at most a fifth of the result.
template <class B> V<B, float> erfOf(B &b, V<B, float> x) {
  constexpr float middle = 0.96875f;
  V<B, float> magnitude = clampMax<float>(b, absolute<float>(b, x), 4.0f);
  V<B, float> centre = polynomial<float>(b, magnitude * magnitude - 0.4375f, erfCentre<float>);
  Exp2Reduced<B, float> rest =
      reduceExp2<float>(b, polynomial<float>(b, magnitude - middle, erfcLog2<float>));
  V<B, float> large =
      b.fma(-exp2OfFraction<B>(b, rest.r), powerOfTwo<float>(b, rest.k + uint32_t(-3)), b.constant(1.0f));
  V<B, float> result = b.select(magnitude < middle, b.fma(magnitude, centre, magnitude), large);
  return flipSign<float>(b, result, signOf<float>(b, x));
}
template <class T, class B> V<B, T> erf(B &b, V<B, T> x) { return erfOf<B>(b, x); }

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_ERRORFUNCTION_H
