// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// log, log2, log1p, softplus and pow.
//
// x = 2^k m, sqrt(1/2) <= m < sqrt(2); log m = 2 atanh(s), s = (m - 1) / (m + 1), the classical series with a
// fitted tail. s and the cubic term are pairs, so the result has about twelve bits more than its type: enough
// for the product in pow.
#ifndef ADJOINT_NUMERICS_MATH_LOGARITHM_H
#define ADJOINT_NUMERICS_MATH_LOGARITHM_H

#include "adjoint/Numerics/Math/Exponential.h"

namespace mlir::ad::numerics {

/// log x = k ln 2 + value.
template <class B, class T> struct LogReduced {
  V<B, BitsOf<T>> k;
  Pair<B, T> value;
};

/// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)].
template <class T, class B> Pair<B, T> logReducedOf(B &b, Pair<B, T> f) {
  Pair<B, T> denominator = fastTwoSum<T>(b, b.constant(T(2)), f.high);
  denominator.low = denominator.low + f.low;
  Pair<B, T> s = divide<T>(b, f, denominator);
  Pair<B, T> square = multiply<T>(b, s, s);
  Pair<B, T> cube = multiply<T>(b, square, s);
  constexpr T third = T(2) / T(3);
  // The rounding of 2/3, from its exact residual: 3 * third - 2 is representable.
  constexpr T thirdRest = sizeof(T) == 4 ? T(-1.98682149e-8) : T(3.7007434154171886e-17);
  cube = multiply<T>(b, cube, Split<T>{third, thirdRest});
  V<B, T> tail = square.high * square.high * s.high * polynomial<T>(b, square.high, logTail<T>);
  Pair<B, T> sum = fastTwoSum<T>(b, s.high * T(2), cube.high);
  return fastTwoSum<T>(b, sum.high, sum.low + (b.fma(s.low, b.constant(T(2)), cube.low) + tail));
}

/// For a positive finite normal pair x.
template <class T, class B> LogReduced<B, T> logReduced(B &b, Pair<B, T> x) {
  constexpr BitsOf<T> rootHalf = sizeof(T) == 4 ? BitsOf<T>(0x3f3504f3) : BitsOf<T>(0x3fe6a09e667f3bcdull);
  V<B, BitsOf<T>> bits = b.bits(x.high);
  V<B, BitsOf<T>> k = b.shiftRightSigned(bits - rootHalf, FloatLayout<T>::mantissa);
  V<B, T> m = b.fromBits(bits - (k << FloatLayout<T>::mantissa));
  V<B, T> low = x.low * powerOrZero<T>(b, b.constant(BitsOf<T>(0)) - k, FloatLayout<T>::bias - 1);
  return {k, logReducedOf<T>(b, twoSum<T>(b, m - T(1), low))};
}

/// An integer in two's complement, below 2^21 in magnitude, as a float.
template <class T, class B> V<B, T> integerToFloat(B &b, V<B, BitsOf<T>> k) {
  constexpr T shift = T(1.5) * T(BitsOf<T>(1) << FloatLayout<T>::mantissa);
  return b.fromBits(k + ScalarBuilder().bits(shift)) - shift;
}

template <class T, class B> Pair<B, T> logJoin(B &b, LogReduced<B, T> x) {
  V<B, T> k = integerToFloat<T>(b, x.k);
  Pair<B, T> sum = fastTwoSum<T>(b, k * ln2<T>.high, x.value.high);
  return fastTwoSum<T>(b, sum.high, b.fma(k, b.constant(ln2<T>.low), sum.low + x.value.low));
}

/// `logReduced` for any positive finite x, subnormals included.
template <class T, class B> LogReduced<B, T> logReducedAny(B &b, V<B, T> x) {
  constexpr int shift = FloatLayout<T>::mantissa + 1;
  constexpr T up = T(BitsOf<T>(1) << shift);
  V<B, bool> subnormal = x < std::numeric_limits<T>::min();
  LogReduced<B, T> result = logReduced<T>(b, pairOf<T>(b, b.select(subnormal, x * up, x)));
  result.k = result.k - b.select(subnormal, b.constant(BitsOf<T>(shift)), b.constant(BitsOf<T>(0)));
  return result;
}

/// The logarithm of 0, infinity, negative numbers and NaN; `result` elsewhere.
template <class T, class B> V<B, T> logEdges(B &b, V<B, T> x, V<B, T> result) {
  result = b.select(x == infinity<T>(), x, result);
  result = b.select(x == T(0), b.constant(-infinity<T>()), result);
  return b.select(x >= T(0), result, b.constant(notANumber<T>()));
}

/// log x in float without a division: f - f^2/2 + f^3 P(f), f = m - 1, where only the first term stays exact.
template <class B> V<B, float> logDirectly(B &b, V<B, float> x) {
  V<B, bool> subnormal = x < std::numeric_limits<float>::min();
  V<B, uint32_t> bits = b.bits(b.select(subnormal, x * 0x1p24f, x));
  V<B, uint32_t> k = b.shiftRightSigned(bits - 0x3f3504f3u, 23); // the bits of sqrt(1/2)
  V<B, float> f = b.fromBits(bits - (k << 23)) - 1.0f;
  k = k - b.select(subnormal, b.constant(24u), b.constant(0u));
  V<B, float> square = f * f, factor = integerToFloat<float>(b, k);
  V<B, float> tail = b.fma(f, polynomial<float>(b, f, logDirect<float>), b.constant(-0.5f));
  tail = b.fma(square, tail, factor * ln2<float>.low);
  Pair<B, float> sum = fastTwoSum<float>(b, factor * ln2<float>.high, f);
  return sum.high + (sum.low + tail);
}

template <class T, class B> V<B, T> log(B &b, V<B, T> x) {
  if constexpr (sizeof(T) == 4)
    return logEdges<T>(b, x, logDirectly<B>(b, x));
  else
    return logEdges<T>(b, x, logJoin<T>(b, logReducedAny<T>(b, x)).high);
}

template <class T, class B> V<B, T> log2(B &b, V<B, T> x) {
  LogReduced<B, T> reduced = logReducedAny<T>(b, x);
  Pair<B, T> fraction = multiply<T>(b, reduced.value, invLn2<T>);
  Pair<B, T> sum = fastTwoSum<T>(b, integerToFloat<T>(b, reduced.k), fraction.high);
  return logEdges<T>(b, x, sum.high + (sum.low + fraction.low));
}

template <class T, class B> V<B, T> log1p(B &b, V<B, T> x) {
  Pair<B, T> sum = twoSum<T>(b, b.constant(T(1)), x);
  V<B, T> result = logEdges<T>(b, sum.high, logJoin<T>(b, logReduced<T>(b, sum)).high);
  constexpr T tiny = T(1) / T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 2));
  return b.select(absolute<T>(b, x) < tiny, x, keepNaN<T>(b, x, result));
}

/// max(x, 0) + log(1 + t), t = e^-|x|.
template <class T, class B> V<B, T> softplus(B &b, V<B, T> x) {
  constexpr int small = FloatLayout<T>::mantissa / 2;
  V<B, T> one = b.constant(T(1)), argument = atLeast<T>(b, -absolute<T>(b, x), expLowest<T>);
  ExpPair<B, T> e = expPair<T>(b, argument);
  Pair<B, T> power = onePlus<T>(b, e.q);
  V<B, T> factor = powerOrZero<T>(b, e.k, FloatLayout<T>::bias - 3);
  V<B, T> t = power.high * factor;
  Pair<B, T> sum = fastTwoSum<T>(b, one, t);
  sum.low = b.fma(power.low, factor, sum.low);
  Pair<B, T> logarithm = logJoin<T>(b, logReduced<T>(b, sum));
  V<B, T> positive = atLeast<T>(b, x, T(0));
  Pair<B, T> total = twoSum<T>(b, positive, logarithm.high);
  V<B, T> result = total.high + (total.low + logarithm.low);
  // log(1 + t) = t - t^2/2 + t^3/3 for small t, which may be subnormal; 1 + t would lose its last digits.
  V<B, T> bend = t * b.fma(t, b.constant(T(-1) / T(3)), b.constant(T(0.5)));
  V<B, T> tiny = scale<T>(b, power.high + b.fma(-power.high, bend, power.low), e.k);
  V<B, bool> far = b.logicalAnd(b.lessSigned(e.k, b.constant(static_cast<BitsOf<T>>(-small))), x < T(0));
  return b.select(x > T(1000), x, b.select(far, tiny, result));
}

/// Whether |x| is an integer: from 2^52 on every double is.
template <class B> V<B, bool> isInteger(B &b, V<B, double> magnitude) {
  constexpr double shift = 4503599627370496.0;
  return b.logicalOr(magnitude >= shift, (magnitude + shift) - shift == magnitude);
}

/// |x|^y for x, y without NaN, x not 1, y not 0.
template <class B> V<B, double> powMagnitude(B &b, V<B, double> magnitude, V<B, double> y) {
  // Clamped to |y| <= 2^66 the product still leaves the range of exp, as |log x| >= 2^-53.
  constexpr double largest = 73786976294838206464.0;
  V<B, double> exponent = atLeast<double>(b, atMost<double>(b, y, largest), -largest);
  Pair<B, double> logarithm = logJoin<double>(b, logReducedAny<double>(b, magnitude));
  Pair<B, double> product = multiply<double>(b, logarithm, exponent);
  V<B, bool> high = product.high > expHighest<double>, low = product.high < expLowest<double>;
  V<B, double> zero = b.constant(0.0);
  product.low = b.select(b.logicalOr(high, low), zero, product.low);
  product.high = atLeast<double>(b, atMost<double>(b, product.high, expHighest<double>), expLowest<double>);
  ExpPair<B, double> e = expPair<double>(b, product);
  V<B, double> result = scale<double>(b, onePlus<double>(b, e.q).high, e.k);
  V<B, bool> limit = b.logicalOr(b.logicalOr(magnitude == 0.0, magnitude == infinity<double>()),
                                 absolute<double>(b, y) == infinity<double>());
  V<B, bool> grows =
      b.logicalOr(b.logicalAnd(magnitude > 1.0, y > 0.0), b.logicalAnd(magnitude < 1.0, y < 0.0));
  return b.select(limit, b.select(grows, b.constant(infinity<double>()), zero), result);
}

/// C99 Annex F.9.4.4 says what the special cases give.
template <class B> V<B, double> powDouble(B &b, V<B, double> x, V<B, double> y) {
  V<B, double> magnitude = absolute<double>(b, x), exponent = absolute<double>(b, y), one = b.constant(1.0);
  V<B, bool> integer = isInteger<B>(b, exponent);
  V<B, bool> odd = b.logicalAnd(integer, b.logicalNot(isInteger<B>(b, exponent * 0.5)));
  V<B, double> result = powMagnitude<B>(b, magnitude, y);
  result = b.select(b.logicalAnd(odd, signBit<double>(b, x)), -result, result);
  V<B, bool> complex =
      b.logicalAnd(b.logicalAnd(x < 0.0, magnitude < infinity<double>()), b.logicalNot(integer));
  complex = b.logicalOr(complex, b.logicalOr(x != x, y != y));
  result = b.select(complex, b.constant(notANumber<double>()), result);
  V<B, bool> unit = b.logicalAnd(magnitude == 1.0, exponent == infinity<double>());
  return b.select(b.logicalOr(b.logicalOr(x == 1.0, y == 0.0), unit), one, result);
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_LOGARITHM_H
