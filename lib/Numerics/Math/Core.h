// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Building blocks of the elementary functions: bits of a float, polynomials, and unevaluated sums of two
// floats
// (`Pair`), which give intermediate results about twice the digits. The error-free sums and products are
// those of Dekker (1971) and Knuth (TAOCP 2, 4.2.2); the products use fma.
#ifndef ADJOINT_LIB_NUMERICS_MATH_CORE_H
#define ADJOINT_LIB_NUMERICS_MATH_CORE_H

#include "Coefficients.h"
#include "adjoint/Numerics/Math/Builder.h"
#include <limits>

namespace mlir::ad::numerics {

/// high + low. `Normalised` means that |low| is at most half a unit in the last place of high.
template <class B, class T> struct Pair {
  V<B, T> high, low;
};

/// a + b exactly, when |a| >= |b| or a is zero.
template <class T, class B> Pair<B, T> fastTwoSum(B &b, V<B, T> x, V<B, T> y) {
  V<B, T> sum = x + y;
  return {sum, y - (sum - x)};
}

/// a + b exactly.
template <class T, class B> Pair<B, T> twoSum(B &b, V<B, T> x, V<B, T> y) {
  V<B, T> sum = x + y;
  V<B, T> part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}

/// a * b exactly, unless the low part underflows.
template <class T, class B> Pair<B, T> twoProduct(B &b, V<B, T> x, V<B, T> y) {
  V<B, T> product = x * y;
  return {product, b.fma(x, y, -product)};
}

template <class T, class B> Pair<B, T> multiply(B &b, Pair<B, T> x, V<B, T> y) {
  Pair<B, T> product = twoProduct<T>(b, x.high, y);
  return fastTwoSum<T>(b, product.high, b.fma(x.low, y, product.low));
}

template <class T, class B> Pair<B, T> multiply(B &b, Pair<B, T> x, Pair<B, T> y) {
  Pair<B, T> product = twoProduct<T>(b, x.high, y.high);
  V<B, T> low = b.fma(x.low, y.high, b.fma(x.high, y.low, product.low));
  return fastTwoSum<T>(b, product.high, low);
}

template <class T, class B> Pair<B, T> multiply(B &b, Pair<B, T> x, Split<T> y) {
  return multiply<T>(b, x, Pair<B, T>{b.constant(y.high), b.constant(y.low)});
}

/// x / y from a quotient that is close to it and from the inverse of y: high is the quotient, low its
/// correction.
template <class T, class B>
Pair<B, T> correctQuotient(B &b, V<B, T> quotient, Pair<B, T> x, Pair<B, T> y, V<B, T> inverse) {
  V<B, T> rest = b.fma(-quotient, y.high, x.high);
  rest = b.fma(-quotient, y.low, rest + x.low);
  return fastTwoSum<T>(b, quotient, rest * inverse);
}

/// x / y with one division. The residual corrects the rounding of 1/y. y.high, 1/y.high and the result are
/// normal.
template <class T, class B> Pair<B, T> divide(B &b, Pair<B, T> x, Pair<B, T> y) {
  V<B, T> inverse = b.constant(T(1)) / y.high;
  return correctQuotient<T>(b, x.high * inverse, x, y, inverse);
}

/// x / y if the result may be subnormal; then the quotient is the result.
template <class T, class B> Pair<B, T> divideAny(B &b, Pair<B, T> x, Pair<B, T> y) {
  return correctQuotient<T>(b, x.high / y.high, x, y, b.constant(T(1)) / y.high);
}

template <class T, class B> Pair<B, T> add(B &b, Pair<B, T> x, Pair<B, T> y) {
  Pair<B, T> sum = twoSum<T>(b, x.high, y.high);
  return fastTwoSum<T>(b, sum.high, sum.low + (x.low + y.low));
}

template <class T, class B> Pair<B, T> pairOf(B &b, Split<T> x) {
  return {b.constant(x.high), b.constant(x.low)};
}

template <class T, class B> Pair<B, T> pairOf(B &b, V<B, T> x) { return {x, b.constant(T(0))}; }

template <class T, class B> Pair<B, T> negate(B &b, Pair<B, T> x) { return {-x.high, -x.low}; }

template <class T, class B> Pair<B, T> selectPair(B &b, V<B, bool> condition, Pair<B, T> yes, Pair<B, T> no) {
  return {b.select(condition, yes.high, no.high), b.select(condition, yes.low, no.low)};
}

/// Sum of coefficients[i] * x^i by Horner's rule.
template <class T, class B, int N> V<B, T> polynomial(B &b, V<B, T> x, const Table<T, N> &coefficients) {
  V<B, T> result = b.constant(coefficients.values[N - 1]);
  for (int i = N - 2; i >= 0; --i)
    result = b.fma(result, x, b.constant(coefficients.values[i]));
  return result;
}

/// The same value from two polynomials in x^2, of the even and of the odd powers. The chain of dependent
/// operations is half as long.
template <class T, class B, int N>
V<B, T> polynomialInHalves(B &b, V<B, T> x, const Table<T, N> &coefficients) {
  static_assert(N >= 4, "expected at least two terms in each half");
  V<B, T> square = x * x;
  auto half = [&](int last, int first) {
    V<B, T> result = b.constant(coefficients.values[last]);
    for (int i = last - 2; i >= first; i -= 2)
      result = b.fma(result, square, b.constant(coefficients.values[i]));
    return result;
  };
  V<B, T> even = half((N - 1) / 2 * 2, 0);
  return b.fma(half((N - 2) / 2 * 2 + 1, 1), x, even);
}

/// The same in double with the coefficients of float. `rest` is added to the first one.
template <class B, int N>
V<B, double> widePolynomial(B &b, V<B, double> x, const Table<float, N> &coefficients, float rest) {
  V<B, double> result = b.constant(double(coefficients.values[N - 1]));
  for (int i = N - 2; i >= 1; --i)
    result = b.fma(result, x, b.constant(double(coefficients.values[i])));
  return b.fma(result, x, b.constant(double(coefficients.values[0]) + double(rest)));
}

template <class T> constexpr BitsOf<T> signMask() { return BitsOf<T>(1) << (FloatLayout<T>::width - 1); }

template <class T, class B> V<B, T> absolute(B &b, V<B, T> x) {
  return b.fromBits(b.bits(x) & BitsOf<T>(~signMask<T>()));
}

/// The sign bit of x, in its position.
template <class T, class B> V<B, BitsOf<T>> signOf(B &b, V<B, T> x) { return b.bits(x) & signMask<T>(); }

/// x with the opposite sign if `sign`, a value of signOf, is set.
template <class T, class B> V<B, T> flipSign(B &b, V<B, T> x, V<B, BitsOf<T>> sign) {
  return b.fromBits(b.bits(x) ^ sign);
}

/// The magnitude of x with the sign of y.
template <class T, class B> V<B, T> withSignOf(B &b, V<B, T> x, V<B, T> y) {
  return b.fromBits((b.bits(x) & BitsOf<T>(~signMask<T>())) | signOf<T>(b, y));
}

template <class T, class B> V<B, bool> signBit(B &b, V<B, T> x) { return signOf<T>(b, x) != BitsOf<T>(0); }

template <class T> constexpr T infinity() { return std::numeric_limits<T>::infinity(); }
template <class T> constexpr T notANumber() { return std::numeric_limits<T>::quiet_NaN(); }

/// The minimum and the maximum of x and a bound; NaN stays NaN.
template <class T, class B> V<B, T> clampMax(B &b, V<B, T> x, T bound) {
  return b.select(x > bound, b.constant(bound), x);
}
template <class T, class B> V<B, T> clampMin(B &b, V<B, T> x, T bound) {
  return b.select(x < bound, b.constant(bound), x);
}

/// `result`, or NaN if x is NaN.
template <class T, class B> V<B, T> keepNaN(B &b, V<B, T> x, V<B, T> result) {
  return b.select(x != x, x, result);
}

/// The nearest integer to x * factor, less than 2^21 (float) or 2^50 (double), as a float and in two's
/// complement.
template <class B, class T> struct Rounded {
  V<B, T> value;
  V<B, BitsOf<T>> integer;
};
template <class T, class B> Rounded<B, T> roundToInteger(B &b, V<B, T> x, T factor = T(1)) {
  // Adding 1.5 * 2^mantissa leaves no fraction bits: the addition itself rounds to nearest even.
  constexpr T shift = T(1.5) * T(BitsOf<T>(1) << FloatLayout<T>::mantissa);
  V<B, T> shifted = factor == T(1) ? x + shift : b.fma(x, b.constant(factor), b.constant(shift));
  return {shifted - shift, b.bits(shifted) - ScalarBuilder().bits(shift)};
}

/// 2^k for k in two's complement within the exponents of normal numbers.
template <class T, class B> V<B, T> powerOfTwo(B &b, V<B, BitsOf<T>> k) {
  return b.fromBits((k + BitsOf<T>(FloatLayout<T>::bias)) << FloatLayout<T>::mantissa);
}

/// x * 2^k with one rounding, for |x| in about [2^-20, 2^20]. The result may underflow or overflow by less
/// than a factor of 2^(bias/2). The first of the two products is exact.
template <class T, class B> V<B, T> scale(B &b, V<B, T> x, V<B, BitsOf<T>> k) {
  V<B, BitsOf<T>> half = b.shiftRightSigned(k, 1);
  return (x * powerOfTwo<T>(b, half)) * powerOfTwo<T>(b, k - half);
}

/// 2^k, or 0 for k < -limit: the factor of a term that is added to a term of order 1.
template <class T, class B> V<B, T> powerOrZero(B &b, V<B, BitsOf<T>> k, int limit) {
  V<B, bool> vanishes = b.lessSigned(k, b.constant(static_cast<BitsOf<T>>(-limit)));
  return b.select(vanishes, b.constant(T(0)), powerOfTwo<T>(b, k));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_CORE_H
