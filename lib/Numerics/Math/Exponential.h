// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// exp, exp2, expm1, and functions that use them: sigmoid, silu, gelu_tanh, tanh.
//
// All reduce x = k ln 2 + r, |r| <= ln(2)/2 (Cody and Waite, with fma) and use e^r = 1 + r + r^2/2 + r^3
// P(r). The functions that subtract, divide or multiply afterwards use e^r - 1 as a pair, in which only r^3
// P(r), at most 2 % of r, is rounded at working precision. tanh, sigmoid and silu have a division in any
// case: they use e^2r = (D + N) / (D - N) with a short quotient N / D of polynomials for tanh r, and divide
// once.
#ifndef ADJOINT_LIB_NUMERICS_MATH_EXPONENTIAL_H
#define ADJOINT_LIB_NUMERICS_MATH_EXPONENTIAL_H

#include "Core.h"

namespace mlir::ad::numerics {

/// Smaller and larger arguments give 0 or infinity after scaling, also if the result is multiplied by x.
template <class T> inline constexpr T expLowest = 0;
template <> inline constexpr float expLowest<float> = -112.0f;
template <> inline constexpr double expLowest<double> = -760.0;
template <class T> inline constexpr T expHighest = 0;
template <> inline constexpr float expHighest<float> = 90.0f;
template <> inline constexpr double expHighest<double> = 711.0;

/// x = k ln 2 + r.
template <class B, class T> struct ExpReduced {
  V<B, BitsOf<T>> k;
  Pair<B, T> r;
};

template <class T, class B> ExpReduced<B, T> reduceExp(B &b, V<B, T> x) {
  Rounded<B, T> k = roundToInteger<T>(b, x, invLn2<T>.high);
  V<B, T> first = b.fma(k.value, b.constant(-ln2<T>.high), x); // exact
  V<B, T> high = b.fma(k.value, b.constant(-ln2<T>.low), first);
  V<B, T> low = b.fma(k.value, b.constant(-ln2<T>.low), first - high);
  return {k.integer, {high, low}};
}

/// e^r - 1 - r.high, rounded.
template <class T, class B> V<B, T> expRest(B &b, Pair<B, T> r) {
  V<B, T> inner = b.fma(r.high, polynomial<T>(b, r.high, expTail<T>), b.constant(T(0.5)));
  return b.fma(r.high * r.high, inner, r.low);
}

/// e^x - 1 = 2^k (1 + q) - 1 with q normalised, for a pair x within [expLowest, expHighest].
template <class B, class T> struct ExpPair {
  V<B, BitsOf<T>> k;
  Pair<B, T> q;
};

/// e^r - 1 for |r| <= ln(2)/2. In float r^2/2 is also rounded, with an error of at most 0.1 units of the
/// result.
template <class T, class B> Pair<B, T> expm1Reduced(B &b, Pair<B, T> r) {
  if constexpr (sizeof(T) == 4)
    return fastTwoSum<T>(b, r.high, expRest<T>(b, r));
  Pair<B, T> square = twoProduct<T>(b, r.high, r.high);
  V<B, T> tail = square.high * r.high * polynomial<T>(b, r.high, expTail<T>);
  Pair<B, T> sum = fastTwoSum<T>(b, r.high, square.high * T(0.5));
  V<B, T> low = b.fma(square.low, b.constant(T(0.5)), b.fma(r.low, r.high, r.low) + tail);
  return fastTwoSum<T>(b, sum.high, sum.low + low);
}

template <class T, class B> ExpPair<B, T> expPair(B &b, V<B, T> x) {
  ExpReduced<B, T> reduced = reduceExp<T>(b, x);
  return {reduced.k, expm1Reduced<T>(b, reduced.r)};
}

template <class T, class B> ExpPair<B, T> expPair(B &b, Pair<B, T> x) {
  ExpReduced<B, T> reduced = reduceExp<T>(b, x.high);
  Pair<B, T> r = fastTwoSum<T>(b, reduced.r.high, reduced.r.low + x.low);
  return {reduced.k, expm1Reduced<T>(b, r)};
}

/// e^x = 2^k (1 + r + rest), |r| <= ln(2)/2. `rest` contains the low part of r, and is at most 0.07.
template <class B, class T> struct ExpParts {
  V<B, BitsOf<T>> k;
  V<B, T> r, rest;
};

template <class T, class B> ExpParts<B, T> expParts(B &b, Pair<B, T> x) {
  ExpReduced<B, T> reduced = reduceExp<T>(b, x.high);
  Pair<B, T> r = fastTwoSum<T>(b, reduced.r.high, reduced.r.low + x.low);
  return {reduced.k, r.high, expRest<T>(b, r)};
}

/// 1 + q, normalised.
template <class T, class B> Pair<B, T> onePlus(B &b, Pair<B, T> q) {
  Pair<B, T> sum = fastTwoSum<T>(b, b.constant(T(1)), q.high);
  return fastTwoSum<T>(b, sum.high, sum.low + q.low);
}

/// 2^k (1 + r + r^2/2 + r^3 P(r)), rounded. The last sum has an addend below 0.42, whose rounding error is at
/// most a quarter of a unit of the result.
template <class T, class B> V<B, T> expFinish(B &b, ExpReduced<B, T> x) {
  V<B, T> square = x.r.high * x.r.high;
  V<B, T> tail =
      b.fma(square, b.fma(x.r.high, polynomial<T>(b, x.r.high, expTail<T>), b.constant(T(0.5))), x.r.low);
  return scale<T>(b, (x.r.high + tail) + T(1), x.k);
}

/// e^x of any x.
template <class T, class B> V<B, T> expAnywhere(B &b, V<B, T> x) {
  V<B, T> clamped = clampMin<T>(b, clampMax<T>(b, x, expHighest<T>), expLowest<T>);
  return expFinish<T>(b, reduceExp<T>(b, clamped));
}

/// `usual`, or the result of `anywhere` if an argument is `outside`.
template <class B, class Value, class Anywhere>
Value within(B &b, V<B, bool> outside, Value usual, Anywhere anywhere) {
  using Result = std::tuple<Value>;
  return std::get<0>(b.rarely(outside, Result{usual}, [&] { return Result{anywhere()}; }));
}

/// `usual` if |x| < bound, so that 2^k is a normal number; otherwise the result of `anywhere`.
template <class B, class Anywhere>
V<B, float> within(B &b, V<B, float> x, float bound, V<B, float> usual, Anywhere anywhere) {
  return within<B>(b, b.logicalNot(absolute<float>(b, x) < bound), usual, anywhere);
}

template <class B> V<B, double> expOf(B &b, V<B, double> x) { return expAnywhere<double>(b, x); }

/// From here down e^x rounds to 0 in f32: it is below 2^-151.
inline constexpr float expVanishes = -105.0f;

/// e^x if e^x may not be normal. Attention masks replace scores by large negative numbers, whose result is 0.
/// A vector in which all other arguments have the `usual` value is not evaluated again.
template <class B> V<B, float> expNotNormal(B &b, V<B, float> x, V<B, float> usual) {
  V<B, bool> vanishes = x < expVanishes;
  V<B, bool> other = b.logicalNot(b.logicalOr(absolute<float>(b, x) < 87.0f, vanishes));
  return within<B>(b, other, b.select(vanishes, b.constant(0.0f), usual),
                   [&] { return expAnywhere<float>(b, x); });
}

/// If e^x is normal, r is one float and the last sum is fused: the rounding errors of r and of the factor of
/// r are at most 0.2 units of the result each.
template <class B> V<B, float> expOf(B &b, V<B, float> x) {
  Rounded<B, float> k = roundToInteger<float>(b, x, invLn2<float>.high);
  V<B, float> r = b.fma(k.value, b.constant(-ln2<float>.high), x);
  r = b.fma(k.value, b.constant(-ln2<float>.low), r);
  V<B, float> one = b.constant(1.0f);
  V<B, float> factor = b.fma(r, b.fma(r, polynomial<float>(b, r, expTail<float>), b.constant(0.5f)), one);
  V<B, float> usual = b.fma(r, factor, one) * powerOfTwo<float>(b, k.integer);
  return within<B>(b, x, 87.0f, usual, [&] { return expNotNormal<B>(b, x, usual); });
}
template <class T, class B> V<B, T> exp(B &b, V<B, T> x) { return expOf<B>(b, x); }

/// x = k + r for x within the range in which `exp2` is not constant; r is exact.
template <class B, class T> struct Exp2Reduced {
  V<B, BitsOf<T>> k;
  V<B, T> r;
};

template <class T, class B> Exp2Reduced<B, T> reduceExp2(B &b, V<B, T> x) {
  Rounded<B, T> k = roundToInteger<T>(b, x);
  return {k.integer, x - k.value};
}

template <class T, class B> Exp2Reduced<B, T> reduceExp2Anywhere(B &b, V<B, T> x) {
  constexpr T highest = FloatLayout<T>::bias + 2,
              lowest = -(FloatLayout<T>::bias + FloatLayout<T>::mantissa + 2);
  return reduceExp2<T>(b, clampMin<T>(b, clampMax<T>(b, x, highest), lowest));
}

/// 2^r for |r| <= 1/2, with an error below 0.9 units: the sum with 1 is fused.
template <class B> V<B, float> exp2OfFraction(B &b, V<B, float> r) {
  return b.fma(r, polynomial<float>(b, r, exp2Direct<float>), b.constant(1.0f));
}

template <class B> V<B, float> exp2Of(B &b, V<B, float> x) {
  Exp2Reduced<B, float> near = reduceExp2<float>(b, x);
  V<B, float> usual = exp2OfFraction<B>(b, near.r) * powerOfTwo<float>(b, near.k);
  return within<B>(b, x, 125.0f, usual, [&] {
    Exp2Reduced<B, float> far = reduceExp2Anywhere<float>(b, x);
    return scale<float>(b, exp2OfFraction<B>(b, far.r), far.k);
  });
}

template <class B> V<B, double> exp2Of(B &b, V<B, double> x) {
  Exp2Reduced<B, double> reduced = reduceExp2Anywhere<double>(b, x);
  Pair<B, double> r = twoProduct<double>(b, reduced.r, b.constant(ln2<double>.high));
  V<B, double> low = b.fma(reduced.r, b.constant(ln2<double>.low), r.low);
  return expFinish<double>(b, ExpReduced<B, double>{reduced.k, fastTwoSum<double>(b, r.high, low)});
}
template <class T, class B> V<B, T> exp2(B &b, V<B, T> x) { return exp2Of<B>(b, x); }

/// e^x - 1 as 2^k times a pair: 2^k ((1 - 2^-k) + q). x is at least -45, so that 2^-k is finite.
template <class T, class B> Pair<B, T> expm1Scaled(B &b, ExpPair<B, T> x) {
  V<B, T> inverse = powerOrZero<T>(b, b.constant(BitsOf<T>(0)) - x.k, FloatLayout<T>::bias - 1);
  Pair<B, T> offset = twoSum<T>(b, b.constant(T(1)), -inverse);
  Pair<B, T> sum = twoSum<T>(b, offset.high, x.q.high);
  return fastTwoSum<T>(b, sum.high, sum.low + (offset.low + x.q.low));
}

template <class T, class B> V<B, T> expm1(B &b, V<B, T> x) {
  V<B, T> clamped = clampMin<T>(b, clampMax<T>(b, x, expHighest<T>), T(-45));
  ExpPair<B, T> e = expPair<T>(b, clamped);
  V<B, T> result = scale<T>(b, expm1Scaled<T>(b, e).high, e.k);
  // Zeros keep their sign. The square of a tiny x would underflow.
  constexpr T tiny = T(1) / T(BitsOf<T>(1) << (FloatLayout<T>::mantissa + 2));
  return b.select(absolute<T>(b, x) < tiny, x, result);
}

/// `value` times 2^k; the product may be subnormal.
template <class B, class T> struct Scaled {
  Pair<B, T> value;
  V<B, BitsOf<T>> k;
};

/// 1 / (1 + e^-x) from e^-|x|, which cannot overflow.
template <class T, class B> Scaled<B, T> logistic(B &b, V<B, bool> positive, ExpPair<B, T> e) {
  V<B, T> one = b.constant(T(1));
  Pair<B, T> power = onePlus<T>(b, e.q);
  V<B, T> factor = powerOrZero<T>(b, e.k, FloatLayout<T>::mantissa + 20);
  Pair<B, T> denominator = fastTwoSum<T>(b, one, power.high * factor);
  denominator.low = b.fma(power.low, factor, denominator.low);
  Pair<B, T> numerator = selectPair<T>(b, positive, pairOf<T>(b, one), power);
  return {divide<T>(b, numerator, denominator), b.select(positive, b.constant(BitsOf<T>(0)), e.k)};
}

template <class T, class B> Scaled<B, T> logistic(B &b, Pair<B, T> x) {
  // If x.high is clamped, x.low is meaningless.
  V<B, bool> positive = x.high >= T(0), inside = absolute<T>(b, x.high) < -expLowest<T>;
  Pair<B, T> argument{clampMin<T>(b, -absolute<T>(b, x.high), expLowest<T>),
                      b.select(inside, b.select(positive, -x.low, x.low), b.constant(T(0)))};
  return logistic<T>(b, positive, expPair<T>(b, argument));
}

/// e^(-2m) = 2^k (D + N) / (D - N) with -m = r + k ln(2)/2 and tanh r = N / D, N = r + n, D = 1 + v.
template <class B, class T> struct HalfExp {
  V<B, T> r, n, v, power;
};

/// k is computed from `steps`, which is m or close to it.
template <class T, class B> HalfExp<B, T> halfExp(B &b, V<B, T> m, V<B, T> steps) {
  Rounded<B, T> k = roundToInteger<T>(b, steps, T(-2) * invLn2<T>.high);
  V<B, T> halfLow = b.constant(T(-0.5) * ln2<T>.low);
  V<B, T> first = b.fma(k.value, b.constant(T(-0.5) * ln2<T>.high), -m); // exact
  V<B, T> r = b.fma(k.value, halfLow, first), rLow = b.fma(k.value, halfLow, first - r), square = r * r;
  V<B, T> n = b.fma(r, square * polynomial<T>(b, square, tanhAbove<T>), rLow);
  return {r, n, square * polynomial<T>(b, square, tanhBelow<T>), powerOfTwo<T>(b, k.integer)};
}

/// x / y is quotient + rest * inverse.
template <class B, class T> struct LooseQuotient {
  V<B, T> quotient, rest, inverse;
};

/// x / y of pairs whose low parts are at most a fifth of the high parts.
template <class T, class B> LooseQuotient<B, T> divideLoosely(B &b, Pair<B, T> x, Pair<B, T> y) {
  V<B, T> inverse = b.constant(T(1)) / (y.high + y.low), quotient = (x.high + x.low) * inverse;
  return {quotient, b.fma(-quotient, y.high, x.high) + b.fma(-quotient, y.low, x.low), inverse};
}

/// 1 / (1 + e^-x), without a factor `power` if x < 0: (D - N) / (D - N + 2^k (D + N)) from e^-|x|, or with D
/// + N in the numerator if x < 0.
template <class B, class T> struct Sigmoid {
  LooseQuotient<B, T> value;
  V<B, T> power;
};

/// Up to this bound 2^k is a normal number. Larger |x| are clamped to it.
template <class T> inline constexpr T sigmoidBound = sizeof(T) == 4 ? T(87) : T(708);

template <class T, class B> Sigmoid<B, T> sigmoidParts(B &b, V<B, T> x) {
  V<B, T> m = clampMax<T>(b, absolute<T>(b, x), sigmoidBound<T>) * T(0.5), one = b.constant(T(1));
  HalfExp<B, T> e = halfExp<T>(b, m, m);
  V<B, T> less = one - e.power;
  Pair<B, T> more = fastTwoSum<T>(b, one, e.power);
  V<B, T> bottom = b.fma(-less, e.r, more.high);
  V<B, T> bottomLow = b.fma(-less, e.r, more.high - bottom) + more.low;
  bottomLow = b.fma(-less, e.n, b.fma(more.high, e.v, bottomLow));
  V<B, bool> negative = x < T(0);
  Pair<B, T> top = fastTwoSum<T>(b, one, b.select(negative, e.r, -e.r));
  top.low = b.select(negative, e.n, -e.n) + (e.v + top.low);
  return {divideLoosely<T>(b, top, {bottom, bottomLow}), b.select(negative, e.power, one)};
}

/// x e^x or e^x for x < -sigmoidBound, where 1 + e^x is 1; the result may be subnormal.
template <class T, class B> V<B, T> sigmoidFar(B &b, V<B, T> x, V<B, T> factor) {
  ExpPair<B, T> e = expPair<T>(b, clampMin<T>(b, x, expLowest<T>));
  return scale<T>(b, multiply<T>(b, onePlus<T>(b, e.q), factor).high, e.k);
}

template <class T, class B> V<B, T> sigmoid(B &b, V<B, T> x) {
  Sigmoid<B, T> s = sigmoidParts<T>(b, x);
  V<B, T> usual = b.fma(s.value.rest, s.value.inverse, s.value.quotient) * s.power;
  return within<B>(b, x < -sigmoidBound<T>, usual, [&] { return sigmoidFar<T>(b, x, b.constant(T(1))); });
}

/// x * s for a logistic function s of an argument that increases with x. The limits are x and -0.
template <class T, class B> V<B, T> timesLogistic(B &b, V<B, T> x, V<B, T> clamped, Scaled<B, T> s) {
  V<B, T> result = scale<T>(b, multiply<T>(b, s.value, clamped).high, s.k);
  return b.select(x > T(1000), x, result);
}

template <class T, class B> V<B, T> silu(B &b, V<B, T> x) {
  Sigmoid<B, T> s = sigmoidParts<T>(b, x);
  V<B, T> factor = x * s.power, rest = s.value.rest * s.value.inverse;
  V<B, T> usual = b.fma(factor, s.value.quotient, factor * rest);
  V<B, bool> outside = b.logicalNot(absolute<T>(b, x) < sigmoidBound<T>);
  return within<B>(b, outside, usual, [&] {
    V<B, T> clamped = clampMin<T>(b, x, expLowest<T>);
    return b.select(x > T(0), x, sigmoidFar<T>(b, clamped, clamped));
  });
}

/// x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3), which is 0.5 x (1 + tanh u).
template <class B> V<B, double> geluTanhOf(B &b, V<B, double> x) {
  using T = double;
  V<B, T> clamped = clampMin<T>(b, clampMax<T>(b, x, T(1000)), T(-30));
  Pair<B, T> square = twoProduct<T>(b, clamped, clamped);
  Pair<B, T> inner = add<T>(b, pairOf<T>(b, geluScale<T>), multiply<T>(b, square, geluCubic<T>));
  Scaled<B, T> s = logistic<T>(b, multiply<T>(b, inner, clamped));
  V<B, T> tiny = x * T(0.5);
  return b.select(absolute<T>(b, x) < T(1e-30), tiny, timesLogistic<T>(b, x, clamped, s));
}

/// -2|u| for t = |x|.
template <class B> Pair<B, float> geluTanhExponent(B &b, V<B, float> t) {
  Pair<B, float> square = twoProduct<float>(b, t, t);
  V<B, float> cubic = b.constant(geluCubic<float>.high), scale = b.constant(geluScale<float>.high);
  V<B, float> slope = b.fma(square.high, cubic, scale);
  V<B, float> slopeLow = b.fma(square.high, cubic, scale - slope); // exact: the high part of scale is short
  slopeLow = b.fma(square.low, cubic, slopeLow + geluScale<float>.low);
  slopeLow = b.fma(square.high, b.constant(geluCubic<float>.low), slopeLow);
  Pair<B, float> exponent = twoProduct<float>(b, -t, slope);
  return {exponent.high, b.fma(-t, slopeLow, exponent.low)};
}

/// x e^(-2|u|) for x < -9, where 1 + e^(-2|u|) is 1.
template <class B> V<B, float> geluTanhFar(B &b, V<B, float> x) {
  V<B, float> t = clampMax<float>(b, -x, 12.0f);
  ExpParts<B, float> e = expParts<float>(b, geluTanhExponent<B>(b, t));
  Pair<B, float> power = fastTwoSum<float>(b, b.constant(1.0f), e.r);
  power.low = power.low + e.rest;
  return -scale<float>(b, multiply<float>(b, power, t).high, e.k);
}

/// gelu_tanh from e = e^(-2|u|) = 2^k (1 + s), of which only s is rounded: x / (1 + e) for x >= 0, and x e /
/// (1 + e) for x < 0. The quotient of 1 or 1 + s by 1 + e, and its correction, are multiplied by x or x 2^k,
/// which is exact.
template <class B> V<B, float> geluTanhOf(B &b, V<B, float> x) {
  constexpr float end = 9.0f; // from there on e^(-2|u|) may be subnormal
  V<B, float> t = clampMax<float>(b, absolute<float>(b, x), end), one = b.constant(1.0f);
  ExpParts<B, float> e = expParts<float>(b, geluTanhExponent<B>(b, t));
  V<B, float> s = e.r + e.rest, power = powerOfTwo<float>(b, e.k);

  Pair<B, float> denominator = fastTwoSum<float>(b, one, power);
  V<B, float> sum = b.fma(power, s, denominator.high);
  denominator = {sum, b.fma(power, s, denominator.high - sum) + denominator.low};
  V<B, bool> negative = x < 0.0f;
  Pair<B, float> numerator = fastTwoSum<float>(b, one, b.select(negative, s, b.constant(0.0f)));
  V<B, float> inverse = one / denominator.high, quotient = numerator.high * inverse;
  V<B, float> rest = b.fma(-quotient, denominator.high, numerator.high);
  rest = b.fma(-quotient, denominator.low, rest + numerator.low) * inverse;
  V<B, float> factor = b.select(negative, x * power, x);
  V<B, float> usual = b.fma(factor, quotient, factor * rest);
  usual = b.select(x > end, x, usual);
  return within<B>(b, x < -end, usual, [&] { return geluTanhFar<B>(b, x); });
}
template <class T, class B> V<B, T> geluTanh(B &b, V<B, T> x) { return geluTanhOf<B>(b, x); }

/// From tanhLastPower on 2^k is constant, so that 1 + 2^k is exact. From tanhEnd on the result is 1.
template <class T> inline constexpr T tanhLastPower = sizeof(T) == 4 ? T(8) : T(18);
template <class T> inline constexpr T tanhEnd = sizeof(T) == 4 ? T(9.1) : T(19.1);

/// The result is ((1 - 2^k) D - (1 + 2^k) N) / ((1 + 2^k) D - (1 - 2^k) N).
template <class T, class B> V<B, T> tanh(B &b, V<B, T> x) {
  V<B, T> magnitude = absolute<T>(b, x);
  // The shift keeps r below 1/6, so that the rounding error of `top` for k = -1 is representable.
  V<B, T> shifted = clampMax<T>(b, magnitude - T(0.0075), tanhLastPower<T>), one = b.constant(T(1));
  HalfExp<B, T> e = halfExp<T>(b, clampMax<T>(b, magnitude, tanhEnd<T>), shifted);
  V<B, T> less = one - e.power, more = one + e.power;
  V<B, T> top = b.fma(-more, e.r, less);
  V<B, T> topLow = b.fma(-more, e.n, b.fma(less, e.v, b.fma(-more, e.r, less - top)));
  V<B, T> bottom = b.fma(-less, e.r, more);
  V<B, T> bottomLow = b.fma(-less, e.n, b.fma(more, e.v, b.fma(-less, e.r, more - bottom)));
  LooseQuotient<B, T> result = divideLoosely<T>(b, {top, topLow}, {bottom, bottomLow});
  return flipSign<T>(b, b.fma(result.rest, result.inverse, result.quotient), signOf<T>(b, x));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_EXPONENTIAL_H
