// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// sin, cos, tan and atan2. Functions of float are computed in double, with one rounding at the end, except
// sin and cos of arguments below 2^13. Functions of double use pairs.
#ifndef ADJOINT_LIB_NUMERICS_MATH_TRIGONOMETRIC_H
#define ADJOINT_LIB_NUMERICS_MATH_TRIGONOMETRIC_H

#include "Exponential.h"
#include "TrigonometricReduction.h"

namespace mlir::ad::numerics {

/// sin r and cos r with more digits than float.
template <class B> V<B, double> sinReduced(B &b, V<B, double> r) {
  V<B, double> square = r * r;
  return b.fma(r * square, widePolynomial<B>(b, square, sinTail<float>, sinTailRest<float>), r);
}
template <class B> V<B, double> cosReduced(B &b, V<B, double> r) {
  V<B, double> square = r * r;
  V<B, double> tail = widePolynomial<B>(b, square, cosTail<float>, cosTailRest<float>);
  return b.fma(square, b.fma(square, tail, b.constant(-0.5)), b.constant(1.0));
}

/// sin r, normalised. The cubic term, up to a tenth of the result, is a pair.
template <class T, class B> Pair<B, T> sinReduced(B &b, Pair<B, T> r) {
  Pair<B, T> square = twoProduct<T>(b, r.high, r.high);
  V<B, T> tail = b.constant(sinTail<T>.values[sinTail<T>.size - 1]);
  for (int i = sinTail<T>.size - 2; i >= 1; --i)
    tail = b.fma(tail, square.high, b.constant(sinTail<T>.values[i]));
  Pair<B, T> factor = fastTwoSum<T>(b, b.constant(sinTail<T>.values[0]), tail * square.high);
  factor.low = factor.low + sinTailRest<T>;
  Pair<B, T> cubic = multiply<T>(b, multiply<T>(b, square, factor), r.high);
  V<B, T> slope = b.fma(square.high, b.constant(T(-0.5)), b.constant(T(1)));
  Pair<B, T> sum = fastTwoSum<T>(b, r.high, cubic.high);
  return fastTwoSum<T>(b, sum.high, sum.low + b.fma(r.low, slope, cubic.low));
}

/// cos r, normalised.
template <class T, class B> Pair<B, T> cosReduced(B &b, Pair<B, T> r) {
  Pair<B, T> square = twoProduct<T>(b, r.high, r.high);
  V<B, T> tail = square.high * square.high * polynomial<T>(b, square.high, cosTail<T>);
  Pair<B, T> sum = fastTwoSum<T>(b, b.constant(T(1)), square.high * T(-0.5));
  V<B, T> low = b.fma(square.low, b.constant(T(-0.5)), b.fma(-r.high, r.low, tail));
  return fastTwoSum<T>(b, sum.high, sum.low + low);
}

/// Whether quadrant is odd.
template <class B> V<B, bool> isOdd(B &b, V<B, uint64_t> quadrant) {
  (void)b;
  return (quadrant & uint64_t(1)) != uint64_t(0);
}

/// -x in the quadrants 2 and 3.
template <class B> V<B, double> applyQuadrantSign(B &b, V<B, double> x, V<B, uint64_t> quadrant) {
  return flipSign<double>(b, x, (quadrant << 62) & signMask<double>());
}

/// sin r and cos r of float. The terms from r^3 (sin) and r^4 (cos) on are rounded.
template <class B> V<B, float> sinNear(B &b, Pair<B, float> r) {
  V<B, float> square = r.high * r.high;
  return r.high + b.fma(r.high * square, polynomial<float>(b, square, sinTail<float>), r.low);
}
template <class B> V<B, float> cosNear(B &b, Pair<B, float> r) {
  Pair<B, float> square = twoProduct<float>(b, r.high, r.high);
  V<B, float> minusHalf = b.constant(-0.5f), one = b.constant(1.0f);
  V<B, float> high = b.fma(square.high, minusHalf, one), low = b.fma(square.high, minusHalf, one - high);
  low = b.fma(square.low, minusHalf, b.fma(-r.high, r.low, low));
  return high + b.fma(square.high * square.high, polynomial<float>(b, square.high, cosTail<float>), low);
}

/// NaN where x is infinite or NaN.
template <class T, class B> V<B, T> finiteOnly(B &b, V<B, T> x, V<B, T> result) {
  return b.select(absolute<T>(b, x) < infinity<T>(), result, b.constant(notANumber<T>()));
}

/// sin(|x| + quadrants * pi/2), computed in double.
template <class B> V<B, float> sinFar(B &b, V<B, float> x, uint64_t quadrants) {
  TrigReduced<B, float> reduced = reduceTrig<B>(b, absolute<float>(b, x));
  V<B, uint64_t> quadrant = reduced.quadrant + quadrants;
  V<B, double> sine = sinReduced<B>(b, reduced.r), cosine = cosReduced<B>(b, reduced.r);
  V<B, double> result = applyQuadrantSign<B>(b, b.select(isOdd<B>(b, quadrant), cosine, sine), quadrant);
  return finiteOnly<float>(b, x, b.narrow(result));
}

/// sin(|x| + quadrants * pi/2).
template <class B> V<B, float> sinShifted(B &b, V<B, float> x, uint32_t quadrants) {
  V<B, float> magnitude = absolute<float>(b, x);
  NearReduced<B> reduced = reduceNear<B>(b, magnitude);
  V<B, uint32_t> quadrant = reduced.quadrant + quadrants;
  V<B, bool> odd = (quadrant & 1u) != 0u;
  V<B, float> usual = b.select(odd, cosNear<B>(b, reduced.r), sinNear<B>(b, reduced.r));
  usual = flipSign<float>(b, usual, (quadrant << 30) & signMask<float>());
  return within<B>(b, b.logicalNot(magnitude < trigNear), usual, [&] { return sinFar<B>(b, x, quadrants); });
}
template <class B> V<B, double> sinShifted(B &b, V<B, double> x, uint64_t quadrants) {
  TrigReduced<B, double> reduced = reduceTrig<B>(b, absolute<double>(b, x));
  V<B, uint64_t> quadrant = reduced.quadrant + quadrants;
  V<B, double> sine = sinReduced<double>(b, reduced.r).high, cosine = cosReduced<double>(b, reduced.r).high;
  return applyQuadrantSign<B>(b, b.select(isOdd<B>(b, quadrant), cosine, sine), quadrant);
}

/// tan |x|: sin r / cos r in even quadrants, -cos r / sin r in odd ones.
template <class B> V<B, float> tanOfMagnitude(B &b, V<B, float> x) {
  TrigReduced<B, float> reduced = reduceTrig<B>(b, absolute<float>(b, x));
  V<B, bool> odd = isOdd<B>(b, reduced.quadrant);
  V<B, double> sine = sinReduced<B>(b, reduced.r), cosine = cosReduced<B>(b, reduced.r);
  return b.narrow(b.select(odd, -cosine, sine) / b.select(odd, sine, cosine));
}
template <class B> V<B, double> tanOfMagnitude(B &b, V<B, double> x) {
  TrigReduced<B, double> reduced = reduceTrig<B>(b, absolute<double>(b, x));
  V<B, bool> odd = isOdd<B>(b, reduced.quadrant);
  Pair<B, double> sine = sinReduced<double>(b, reduced.r), cosine = cosReduced<double>(b, reduced.r);
  return divide<double>(b, selectPair<double>(b, odd, negate<double>(b, cosine), sine),
                        selectPair<double>(b, odd, sine, cosine))
      .high;
}

/// sin x and tan x from those of |x|. The result is x if a term of the pairs could underflow.
template <class T, class B> V<B, T> oddTrig(B &b, V<B, T> x, V<B, T> ofMagnitude) {
  V<B, T> result = flipSign<T>(b, ofMagnitude, signOf<T>(b, x));
  if constexpr (sizeof(T) == 8)
    result = b.select(absolute<T>(b, x) < T(0x1p-28), x, result);
  return finiteOnly<T>(b, x, result);
}

template <class B> V<B, double> sinOf(B &b, V<B, double> x) {
  return oddTrig<double>(b, x, sinShifted<B>(b, x, 0));
}
template <class B> V<B, float> sinOf(B &b, V<B, float> x) {
  return flipSign<float>(b, sinShifted<B>(b, x, 0), signOf<float>(b, x));
}
template <class B> V<B, double> cosOf(B &b, V<B, double> x) {
  return finiteOnly<double>(b, x, sinShifted<B>(b, x, 1));
}
template <class B> V<B, float> cosOf(B &b, V<B, float> x) { return sinShifted<B>(b, x, 1); }
template <class T, class B> V<B, T> sin(B &b, V<B, T> x) { return sinOf<B>(b, x); }
template <class T, class B> V<B, T> cos(B &b, V<B, T> x) { return cosOf<B>(b, x); }
template <class T, class B> V<B, T> tan(B &b, V<B, T> x) { return oddTrig<T>(b, x, tanOfMagnitude<B>(b, x)); }

/// atan of numerator / denominator, normalised. Both are positive or zero, and the quotient is at most 1.
template <class T, class B> Pair<B, T> atanQuotient(B &b, V<B, T> numerator, V<B, T> denominator) {
  // atan q = pi/4 + atan((q - 1) / (q + 1)) leaves |a| <= tan(pi/8).
  V<B, bool> large = numerator > denominator * T(0.41421356);
  V<B, T> zero = b.constant(T(0));
  Pair<B, T> difference = twoSum<T>(b, numerator, -denominator), sum = twoSum<T>(b, denominator, numerator);
  Pair<B, T> a = divideAny<T>(b, selectPair<T>(b, large, difference, {numerator, zero}),
                              selectPair<T>(b, large, sum, {denominator, zero}));
  V<B, T> square = a.high * a.high;
  V<B, T> tail = a.high * (square * polynomial<T>(b, square, atanTail<T>));
  Pair<B, T> angle = fastTwoSum<T>(b, a.high, a.low + tail);
  Pair<B, T> quarter{b.constant(halfPi<T>.high * T(0.5)), b.constant(halfPi<T>.low * T(0.5))};
  return selectPair<T>(b, large, add<T>(b, quarter, angle), angle);
}

/// |atan2(y, x)|.
template <class B> V<B, float> atan2Magnitude(B &b, V<B, float> y, V<B, float> x) {
  V<B, float> rise = absolute<float>(b, y), run = absolute<float>(b, x), one = b.constant(1.0f);
  V<B, bool> steep = rise > run;
  V<B, float> top = b.select(steep, run, rise), bottom = b.select(steep, rise, run);
  V<B, bool> bothInfinite = top == infinity<float>();
  bottom = b.select(b.logicalOr(bothInfinite, bottom == 0.0f), one, bottom);
  V<B, double> n = b.widen(b.select(bothInfinite, one, top)), d = b.widen(bottom);
  V<B, bool> large = n > d * 0.41421356;
  V<B, double> a = b.select(large, n - d, n) / b.select(large, d + n, d);
  V<B, double> square = a * a, eighth = b.constant(pi<double>.high / 4), zero = b.constant(0.0);
  V<B, double> angle =
      b.fma(a * square, widePolynomial<B>(b, square, atanTail<float>, atanTailRest<float>), a);
  angle = angle + b.select(large, eighth, zero);
  angle = b.select(steep, b.constant(halfPi<double>.high) - angle, angle);
  angle = b.select(signBit<float>(b, x), b.constant(pi<double>.high) - angle, angle);
  return b.narrow(angle);
}

/// |atan2(y, x)|.
template <class B> V<B, double> atan2Magnitude(B &b, V<B, double> y, V<B, double> x) {
  using T = double;
  V<B, T> rise = absolute<T>(b, y), run = absolute<T>(b, x), one = b.constant(T(1)), zero = b.constant(T(0));
  V<B, bool> steep = rise > run;
  V<B, T> numerator = b.select(steep, run, rise), denominator = b.select(steep, rise, run);
  // Scaling by powers of two prevents an overflow of both, and an underflow of the residual.
  V<B, bool> huge = denominator > std::numeric_limits<T>::max() * T(0.25);
  V<B, bool> minute = denominator < T(1) / (std::numeric_limits<T>::max() * T(0x1p-40));
  V<B, T> factor = b.select(huge, b.constant(T(0.25)), b.select(minute, b.constant(T(0x1p60)), one));
  V<B, bool> infinite = denominator == infinity<T>();
  V<B, T> top = b.select(infinite, b.select(numerator == infinity<T>(), one, zero), numerator * factor);
  V<B, bool> unit = b.logicalOr(infinite, denominator == T(0));
  V<B, T> bottom = b.select(unit, one, denominator * factor);
  Pair<B, T> angle = atanQuotient<T>(b, top, bottom);
  angle = selectPair<T>(b, steep, add<T>(b, pairOf<T>(b, halfPi<T>), negate<T>(b, angle)), angle);
  angle = selectPair<T>(b, signBit<T>(b, x), add<T>(b, pairOf<T>(b, pi<T>), negate<T>(b, angle)), angle);
  return angle.high;
}

/// The special cases follow C99 Annex F.9.1.4.
template <class T, class B> V<B, T> atan2(B &b, V<B, T> y, V<B, T> x) {
  V<B, T> result = flipSign<T>(b, atan2Magnitude<B>(b, y, x), signOf<T>(b, y));
  return keepNaN<T>(b, x, keepNaN<T>(b, y, result));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_TRIGONOMETRIC_H
