// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// log, log2, log1p, softplus and pow.
//
// x = 2^k m, sqrt(1/2) <= m < sqrt(2); log m = 2 atanh(s), s = (m - 1) / (m + 1), by the classical series
// with a fitted tail. s and the cubic term are pairs, so the result has about twelve bits more than its type,
// which is enough for the product in pow. Functions of float need no pairs, or use double.
#ifndef ADJOINT_LIB_NUMERICS_MATH_LOGARITHM_H
#define ADJOINT_LIB_NUMERICS_MATH_LOGARITHM_H

#include "Exponential.h"

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

/// The logarithm of 0, infinity, negative numbers and NaN; `result` for other x.
template <class T, class B> V<B, T> logEdges(B &b, V<B, T> x, V<B, T> result) {
  result = b.select(x == infinity<T>(), x, result);
  result = b.select(x == T(0), b.constant(-infinity<T>()), result);
  return b.select(x >= T(0), result, b.constant(notANumber<T>()));
}

/// x = 2^k (1 + f) for a positive finite float, f exact.
template <class B> struct LogParts {
  V<B, uint32_t> k;
  V<B, float> f;
};

template <class B> LogParts<B> logPartsOfNormal(B &b, V<B, float> x) {
  V<B, uint32_t> bits = b.bits(x), k = b.shiftRightSigned(bits - 0x3f3504f3u, 23); // the bits of sqrt(1/2)
  return {k, b.fromBits(bits - (k << 23)) - 1.0f};
}

template <class B> LogParts<B> logParts(B &b, V<B, float> x) {
  V<B, bool> subnormal = x < std::numeric_limits<float>::min();
  LogParts<B> parts = logPartsOfNormal<B>(b, b.select(subnormal, x * 0x1p24f, x));
  return {parts.k - b.select(subnormal, b.constant(24u), b.constant(0u)), parts.f};
}

/// k ln 2 + log(1 + f) + rest in float without a division: f - f^2/2 + f^3 P(f), where only f is exact.
template <class B> V<B, float> logDirectly(B &b, LogParts<B> x, V<B, float> rest) {
  V<B, float> square = x.f * x.f, factor = integerToFloat<float>(b, x.k);
  V<B, float> tail = b.fma(x.f, polynomial<float>(b, x.f, logDirect<float>), b.constant(-0.5f));
  tail = b.fma(square, tail, b.fma(factor, b.constant(ln2<float>.low), rest));
  Pair<B, float> sum = fastTwoSum<float>(b, factor * ln2<float>.high, x.f);
  return sum.high + (sum.low + tail);
}

template <class B> V<B, float> logFinite(B &b, V<B, float> x) {
  return logDirectly<B>(b, logParts<B>(b, x), b.constant(0.0f));
}
template <class B> V<B, double> logFinite(B &b, V<B, double> x) {
  return logJoin<double>(b, logReducedAny<double>(b, x)).high;
}

template <class T, class B> V<B, T> log(B &b, V<B, T> x) { return logEdges<T>(b, x, logFinite<B>(b, x)); }

/// k + f / ln 2 + f^2 P(f), where k and the second term are exact.
template <class B> V<B, float> log2Finite(B &b, V<B, float> x) {
  LogParts<B> parts = logParts<B>(b, x);
  Pair<B, float> first = twoProduct<float>(b, parts.f, b.constant(invLn2<float>.high));
  first.low = b.fma(parts.f, b.constant(invLn2<float>.low), first.low);
  // The quadratic term is up to a fifth of the result, so the rounding error of the square has to be
  // corrected.
  Pair<B, float> square = twoProduct<float>(b, parts.f, parts.f);
  V<B, float> quadratic = b.constant(log2Direct<float>.values[0]);
  V<B, float> tail = b.constant(log2Direct<float>.values[log2Direct<float>.size - 1]);
  for (int i = log2Direct<float>.size - 2; i >= 1; --i)
    tail = b.fma(tail, parts.f, b.constant(log2Direct<float>.values[i]));
  tail = b.fma(square.high * parts.f, tail, b.fma(square.high, b.constant(log2DirectRest<float>), first.low));
  tail = b.fma(square.high, quadratic, b.fma(square.low, quadratic, tail));
  Pair<B, float> sum = fastTwoSum<float>(b, integerToFloat<float>(b, parts.k), first.high);
  return sum.high + (sum.low + tail);
}
template <class B> V<B, double> log2Finite(B &b, V<B, double> x) {
  LogReduced<B, double> reduced = logReducedAny<double>(b, x);
  Pair<B, double> fraction = multiply<double>(b, reduced.value, invLn2<double>);
  Pair<B, double> sum = fastTwoSum<double>(b, integerToFloat<double>(b, reduced.k), fraction.high);
  return sum.high + (sum.low + fraction.low);
}

template <class T, class B> V<B, T> log2(B &b, V<B, T> x) { return logEdges<T>(b, x, log2Finite<B>(b, x)); }

/// log(x.high + x.low) = log x.high + x.low / x.high. The quotient is at most 2^-24, so 1 - f + f^2 is close
/// enough to 1 / (1 + f). From 2^126 on the low part is ignored.
template <class B> V<B, float> logOfSum(B &b, Pair<B, float> x) {
  LogParts<B> parts = logPartsOfNormal<B>(b, x.high);
  V<B, bool> scalable = b.lessSigned(parts.k, b.constant(126u));
  V<B, float> factor = powerOfTwo<float>(b, b.select(scalable, b.constant(0u) - parts.k, b.constant(0u)));
  V<B, float> low = b.select(scalable, x.low * factor, b.constant(0.0f));
  V<B, float> inverse = b.fma(parts.f, parts.f - 1.0f, b.constant(1.0f));
  return logDirectly<B>(b, parts, low * inverse);
}
template <class B> V<B, double> logOfSum(B &b, Pair<B, double> x) {
  return logJoin<double>(b, logReduced<double>(b, x)).high;
}

template <class T, class B> V<B, T> log1p(B &b, V<B, T> x) {
  Pair<B, T> sum = twoSum<T>(b, b.constant(T(1)), x);
  V<B, T> result = logEdges<T>(b, sum.high, logOfSum<B>(b, sum));
  constexpr T tiny = T(1) / T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 2));
  return b.select(absolute<T>(b, x) < tiny, x, keepNaN<T>(b, x, result));
}

/// max(x, 0) + log(1 + t), t = e^-|x|.
template <class T, class B> V<B, T> softplus(B &b, V<B, T> x) {
  constexpr int small = FloatLayout<T>::mantissa / 2;
  V<B, T> one = b.constant(T(1)), argument = clampMin<T>(b, -absolute<T>(b, x), expLowest<T>);
  ExpPair<B, T> e = expPair<T>(b, argument);
  Pair<B, T> power = onePlus<T>(b, e.q);
  V<B, T> factor = powerOrZero<T>(b, e.k, FloatLayout<T>::bias - 3);
  V<B, T> t = power.high * factor;
  Pair<B, T> sum = fastTwoSum<T>(b, one, t);
  sum.low = b.fma(power.low, factor, sum.low);
  Pair<B, T> logarithm = logJoin<T>(b, logReduced<T>(b, sum));
  V<B, T> positive = clampMin<T>(b, x, T(0));
  Pair<B, T> total = twoSum<T>(b, positive, logarithm.high);
  V<B, T> result = total.high + (total.low + logarithm.low);
  // log(1 + t) = t - t^2/2 + t^3/3 for small t, which may be subnormal; 1 + t would lose the last digits of
  // t.
  V<B, T> bend = t * b.fma(t, b.constant(T(-1) / T(3)), b.constant(T(0.5)));
  V<B, T> tiny = scale<T>(b, power.high + b.fma(-power.high, bend, power.low), e.k);
  V<B, bool> far = b.logicalAnd(b.lessSigned(e.k, b.constant(static_cast<BitsOf<T>>(-small))), x < T(0));
  return b.select(x > T(1000), x, b.select(far, tiny, result));
}

/// Whether |x| is an integer: from 2^mantissa on every float is.
template <class T, class B> V<B, bool> isInteger(B &b, V<B, T> magnitude) {
  constexpr T shift = T(BitsOf<T>(1) << FloatLayout<T>::mantissa);
  return b.logicalOr(magnitude >= shift, (magnitude + shift) - shift == magnitude);
}

/// log2 of a positive normal double, relative error 2^-43.
template <class B> V<B, double> log2Wide(B &b, V<B, double> x) {
  constexpr uint64_t rootHalf = 0x3fe6a09e667f3bcdull;
  V<B, uint64_t> bits = b.bits(x), k = b.shiftRightSigned(bits - rootHalf, 52);
  V<B, double> f = b.fromBits(bits - (k << 52)) - 1.0;
  V<B, double> s = f / (f + 2.0), square = s * s;
  V<B, double> tail = b.fma(square, polynomial<double>(b, square, logWide<double>), b.constant(2.0));
  return b.fma(s * invLn2<double>.high, tail, integerToFloat<double>(b, k));
}

/// 2^x for |x| < 1000, relative error 2^-39.
template <class B> V<B, double> exp2Wide(B &b, V<B, double> x) {
  Rounded<B, double> k = roundToInteger<double>(b, x);
  V<B, double> r = x - k.value;
  return b.fma(r, polynomial<double>(b, r, exp2Direct<double>), b.constant(1.0)) *
         powerOfTwo<double>(b, k.integer);
}

/// |x|^y of floats for finite x != 0 and finite y, in double, without underflow or overflow.
template <class B> V<B, float> powFinite(B &b, V<B, float> magnitude, V<B, float> y) {
  V<B, double> exponent = b.widen(y) * log2Wide<B>(b, b.widen(magnitude));
  return b.narrow(exp2Wide<B>(b, clampMin<double>(b, clampMax<double>(b, exponent, 160.0), -160.0)));
}

/// The same of doubles.
template <class B> V<B, double> powFinite(B &b, V<B, double> magnitude, V<B, double> y) {
  // If |y| is clamped to 2^66 the product is still outside the range of exp, since |log x| >= 2^-53.
  constexpr double largest = 73786976294838206464.0;
  V<B, double> exponent = clampMin<double>(b, clampMax<double>(b, y, largest), -largest);
  Pair<B, double> logarithm = logJoin<double>(b, logReducedAny<double>(b, magnitude));
  Pair<B, double> product = multiply<double>(b, logarithm, exponent);
  V<B, bool> high = product.high > expHighest<double>, low = product.high < expLowest<double>;
  V<B, double> zero = b.constant(0.0);
  product.low = b.select(b.logicalOr(high, low), zero, product.low);
  product.high =
      clampMin<double>(b, clampMax<double>(b, product.high, expHighest<double>), expLowest<double>);
  ExpPair<B, double> e = expPair<double>(b, product);
  return scale<double>(b, onePlus<double>(b, e.q).high, e.k);
}

/// |x|^y for x and y that are not NaN, x != 1 and y != 0.
template <class T, class B> V<B, T> powMagnitude(B &b, V<B, T> magnitude, V<B, T> y) {
  V<B, bool> limit = b.logicalOr(b.logicalOr(magnitude == T(0), magnitude == infinity<T>()),
                                 absolute<T>(b, y) == infinity<T>());
  V<B, bool> grows =
      b.logicalOr(b.logicalAnd(magnitude > T(1), y > T(0)), b.logicalAnd(magnitude < T(1), y < T(0)));
  return b.select(limit, b.select(grows, b.constant(infinity<T>()), b.constant(T(0))),
                  powFinite<B>(b, magnitude, y));
}

/// The special cases follow C99 Annex F.9.4.4.
template <class T, class B> V<B, T> pow(B &b, V<B, T> x, V<B, T> y) {
  V<B, T> magnitude = absolute<T>(b, x), exponent = absolute<T>(b, y), one = b.constant(T(1));
  V<B, bool> integer = isInteger<T>(b, exponent);
  V<B, bool> odd = b.logicalAnd(integer, b.logicalNot(isInteger<T>(b, exponent * T(0.5))));
  V<B, T> result = powMagnitude<T>(b, magnitude, y);
  result = b.select(b.logicalAnd(odd, signBit<T>(b, x)), -result, result);
  V<B, bool> complex = b.logicalAnd(b.logicalAnd(x < T(0), magnitude < infinity<T>()), b.logicalNot(integer));
  complex = b.logicalOr(complex, b.logicalOr(x != x, y != y));
  result = b.select(complex, b.constant(notANumber<T>()), result);
  V<B, bool> unit = b.logicalAnd(magnitude == T(1), exponent == infinity<T>());
  return b.select(b.logicalOr(b.logicalOr(x == T(1), y == T(0)), unit), one, result);
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_LOGARITHM_H
