// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// sin, cos and tan of every finite argument.
//
// |x| 2/pi is formed in integers from the bits of 2/pi that matter (Payne and Hanek, 1983), so that no
// argument is too large; the window of bits comes from a tree of selects, which is the same on scalars and
// vectors. The fraction becomes a pair r with |r| <= pi/4, the integer part the quadrant. Arguments up to
// pi/4 need no reduction.
#ifndef ADJOINT_NUMERICS_MATH_TRIGONOMETRIC_H
#define ADJOINT_NUMERICS_MATH_TRIGONOMETRIC_H

#include "adjoint/Numerics/Math/Core.h"
#include <array>

namespace mlir::ad::numerics {

/// |x| = r + quadrant * pi/2 (mod 2 pi); the quadrant's lowest two bits count.
template <class B, class T> struct TrigReduced {
  Pair<B, T> r;
  V<B, BitsOf<T>> quadrant;
};

/// Steps from words[0 … Count + 2^bit - 2] to the window that begins `index` words later, one bit of index at
/// a time.
template <int Count, int Bit, class Word, class B, size_t Size>
std::array<V<B, Word>, Count> selectWindow(B &b, V<B, Word> index,
                                           const std::array<V<B, Word>, Size> &words) {
  static_assert(Size == Count + (2 << Bit) - 1, "one word more than the largest shift");
  constexpr int step = 1 << Bit;
  V<B, bool> far = (index & Word(step)) != Word(0);
  std::array<V<B, Word>, Size - step> chosen;
  for (int i = 0; i < int(Size) - step; ++i)
    chosen[i] = b.select(far, words[i + step], words[i]);
  if constexpr (Bit == 0)
    return chosen;
  else
    return selectWindow<Count, Bit - 1, Word>(b, index, chosen);
}

/// `Words` words of 2/pi, the first bit being number `offset` of its fraction preceded by one word of zeros.
template <int Words, int TopBit, class Word, class B>
std::array<V<B, Word>, Words> twoOverPiBits(B &b, V<B, Word> offset) {
  constexpr int width = 8 * sizeof(Word), total = Words + (2 << TopBit), perEntry = 64 / width;
  std::array<V<B, Word>, total> words;
  for (int i = 0; i < total; ++i) {
    int entry = (i - 1) / perEntry, part = perEntry - 1 - (i - 1) % perEntry;
    bool known = i > 0 && entry < 19;
    words[i] = b.constant(known ? static_cast<Word>(twoOverPiWords[entry] >> (width * part)) : Word(0));
  }
  constexpr int logWidth = width == 64 ? 6 : 5;
  auto window = selectWindow<Words + 1, TopBit, Word>(b, offset >> logWidth, words);
  V<B, Word> left = offset & Word(width - 1), right = b.constant(Word(width - 1)) - left;
  std::array<V<B, Word>, Words> result;
  for (int i = 0; i < Words; ++i) // the right shift in two steps stays below the width
    result[i] = b.shiftLeft(window[i], left) | b.shiftRight(window[i + 1] >> 1, right);
  return result;
}

/// The 32 low bits of an integer as a double.
template <class B> V<B, double> wordToDouble(B &b, V<B, uint64_t> word) {
  return b.fromBits(word | uint64_t(0x4330000000000000)) - 4503599627370496.0;
}

/// |x| in [1/2, infinity), float. 24 bits of x times 96 bits of 2/pi; r is exact to 2^-60.
template <class B> TrigReduced<B, float> reduceLarge(B &b, V<B, float> x) {
  V<B, uint32_t> bits = b.bits(x);
  V<B, uint64_t> m = b.widen((bits & 0x7fffffu) | 0x800000u);
  V<B, uint32_t> offset = (bits >> 23) - 120u; // exponent of the integer m, plus 30
  auto w = twoOverPiBits<3, 2, uint32_t>(b, offset);
  V<B, uint64_t> low = m * b.widen(w[2]);
  V<B, uint64_t> middle = m * b.widen(w[1]) + (low >> 32);
  V<B, uint64_t> high = m * b.widen(w[0]) + (middle >> 32);
  V<B, uint32_t> top = b.narrow(high);
  V<B, uint32_t> quadrant = (top + (1u << 29)) >> 30;
  V<B, double> fraction = b.signedToDouble(top - (quadrant << 30)) * 0x1p-30;
  fraction = b.fma(wordToDouble<B>(b, middle & uint64_t(0xffffffff)), b.constant(0x1p-62), fraction);
  V<B, double> r = fraction * halfPi<double>.high;
  V<B, float> rounded = b.narrow(r);
  return {{rounded, b.narrow(r - b.widen(rounded))}, quadrant};
}

/// The product of m (53 bits) and three words, modulo 2^192, in 32-bit limbs, the lowest first.
template <class B>
std::array<V<B, uint64_t>, 6> multiplyWindow(B &b, V<B, uint64_t> m,
                                             const std::array<V<B, uint64_t>, 3> &words) {
  constexpr uint64_t mask = 0xffffffff;
  std::array<V<B, uint64_t>, 6> limbs, product;
  for (int i = 0; i < 6; ++i)
    limbs[i] = i % 2 ? words[2 - i / 2] >> 32 : words[2 - i / 2] & mask;
  V<B, uint64_t> low = m & mask, high = m >> 32, carry = b.constant(uint64_t(0));
  for (int i = 0; i < 6; ++i) {
    V<B, uint64_t> sum = low * limbs[i] + carry;
    product[i] = sum & mask;
    carry = sum >> 32;
  }
  carry = b.constant(uint64_t(0));
  for (int i = 1; i < 6; ++i) {
    V<B, uint64_t> sum = high * limbs[i - 1] + product[i] + carry;
    product[i] = sum & mask;
    carry = sum >> 32;
  }
  return product;
}

/// |x| in [1/2, infinity), double. 53 bits of x times 192 bits of 2/pi leave 64 good bits where x is nearest
/// to a multiple of pi/2.
template <class B> TrigReduced<B, double> reduceLarge(B &b, V<B, double> x) {
  V<B, uint64_t> bits = b.bits(x);
  V<B, uint64_t> m = (bits & uint64_t(0xfffffffffffff)) | uint64_t(0x10000000000000);
  V<B, uint64_t> offset = (bits >> 52) - uint64_t(1013); // exponent of the integer m, plus 62
  auto p = multiplyWindow<B>(b, m, twoOverPiBits<3, 4, uint64_t>(b, offset));
  V<B, uint64_t> quadrant = (p[5] + uint64_t(1u << 29)) >> 30;
  V<B, double> first = b.signedToDouble(p[5] - (quadrant << 30)) * 0x1p-30;
  Pair<B, double> upper = twoSum<double>(b, first, wordToDouble<B>(b, p[4]) * 0x1p-62);
  Pair<B, double> lower =
      fastTwoSum<double>(b, wordToDouble<B>(b, p[3]) * 0x1p-94, wordToDouble<B>(b, p[2]) * 0x1p-126);
  return {multiply<double>(b, add<double>(b, upper, lower), halfPi<double>), quadrant};
}

template <class T, class B> TrigReduced<B, T> reduceTrig(B &b, V<B, T> x) {
  V<B, T> magnitude = absolute<T>(b, x);
  V<B, bool> small = magnitude <= halfPi<T>.high * T(0.5);
  V<B, bool> usable = b.logicalAnd(magnitude >= T(0.5), magnitude < infinity<T>());
  TrigReduced<B, T> large = reduceLarge<B>(b, b.select(usable, magnitude, b.constant(T(1))));
  return {selectPair<T>(b, small, pairOf<T>(b, magnitude), large.r),
          b.select(small, b.constant(BitsOf<T>(0)), large.quadrant)};
}

/// sin r, normalised; the cubic term, up to a tenth of the result, is a pair.
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

/// sin(|x| + turns * pi/2), without the sign that x gives to it.
template <class T, class B> V<B, T> sinTurned(B &b, V<B, T> x, BitsOf<T> turns) {
  TrigReduced<B, T> reduced = reduceTrig<T>(b, x);
  V<B, BitsOf<T>> quadrant = reduced.quadrant + turns;
  V<B, bool> odd = (quadrant & BitsOf<T>(1)) != BitsOf<T>(0);
  V<B, T> result = b.select(odd, cosReduced<T>(b, reduced.r).high, sinReduced<T>(b, reduced.r).high);
  return flipSign<T>(b, result, (quadrant >> 1) << (FloatLayout<T>::width - 1));
}

/// NaN where x is infinite or NaN.
template <class T, class B> V<B, T> finiteOnly(B &b, V<B, T> x, V<B, T> result) {
  return b.select(absolute<T>(b, x) < infinity<T>(), result, b.constant(notANumber<T>()));
}

/// Below this magnitude sin x and tan x are x: no term may underflow.
template <class T> constexpr T trigTiny() {
  return T(1) / T(BitsOf<T>(1) << (FloatLayout<T>::mantissa / 2 + 2));
}

template <class T, class B> V<B, T> sin(B &b, V<B, T> x) {
  V<B, T> result = flipSign<T>(b, sinTurned<T>(b, x, 0), signOf<T>(b, x));
  return finiteOnly<T>(b, x, b.select(absolute<T>(b, x) < trigTiny<T>(), x, result));
}

template <class T, class B> V<B, T> cos(B &b, V<B, T> x) {
  return finiteOnly<T>(b, x, sinTurned<T>(b, x, 1));
}

/// sin r / cos r in even quadrants, -cos r / sin r in odd ones.
template <class T, class B> V<B, T> tan(B &b, V<B, T> x) {
  TrigReduced<B, T> reduced = reduceTrig<T>(b, x);
  V<B, bool> odd = (reduced.quadrant & BitsOf<T>(1)) != BitsOf<T>(0);
  Pair<B, T> sine = sinReduced<T>(b, reduced.r), cosine = cosReduced<T>(b, reduced.r);
  Pair<B, T> quotient =
      divide<T>(b, selectPair<T>(b, odd, negate<T>(b, cosine), sine), selectPair<T>(b, odd, sine, cosine));
  V<B, T> result = flipSign<T>(b, quotient.high, signOf<T>(b, x));
  return finiteOnly<T>(b, x, b.select(absolute<T>(b, x) < trigTiny<T>(), x, result));
}

/// atan of numerator / denominator, both positive or zero, the quotient at most 1, normalised.
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

/// C99 Annex F.9.1.4 says what the special cases give.
template <class T, class B> V<B, T> atan2(B &b, V<B, T> y, V<B, T> x) {
  V<B, T> rise = absolute<T>(b, y), run = absolute<T>(b, x), one = b.constant(T(1)), zero = b.constant(T(0));
  V<B, bool> steep = rise > run;
  V<B, T> numerator = b.select(steep, run, rise), denominator = b.select(steep, rise, run);
  // Powers of two bring both away from overflow, and from underflow of the residual.
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
  V<B, T> result = flipSign<T>(b, angle.high, signOf<T>(b, y));
  return keepNaN<T>(b, x, keepNaN<T>(b, y, result));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_TRIGONOMETRIC_H
