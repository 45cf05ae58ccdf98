// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Argument reduction of sin, cos and tan by multiples of pi/2.
//
// Arguments below 2^30 are reduced by the method of Cody and Waite, with fma; floats below 2^13 are reduced
// in float. For larger arguments |x| 2/pi is computed in integers from the relevant bits of 2/pi (Payne and
// Hanek, 1983), so that no argument is too large. A tree of selects gives the window of bits, which works on
// scalars and on vectors.
#ifndef ADJOINT_LIB_NUMERICS_MATH_TRIGONOMETRICREDUCTION_H
#define ADJOINT_LIB_NUMERICS_MATH_TRIGONOMETRICREDUCTION_H

#include "Core.h"
#include <array>

namespace mlir::ad::numerics {

/// |x| = r + quadrant * pi/2 (mod 2 pi), where |r| is at most slightly above pi/4. Only the lowest two bits
/// of the quadrant are significant. For a float, r is a double with a relative error of at most 2^-40.
template <class B, class T> struct TrigReduced;
template <class B> struct TrigReduced<B, float> {
  V<B, double> r;
  V<B, uint64_t> quadrant;
};
template <class B> struct TrigReduced<B, double> {
  Pair<B, double> r;
  V<B, uint64_t> quadrant;
};

/// Selects the window of `Count` words that begins at words[index], by one bit of the index at a time.
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

/// `Words` words of the fraction of 2/pi, preceded by one word of zeros, from bit number `offset` on.
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

/// |x| in [1/2, infinity), float. 24 bits of x times 96 bits of 2/pi.
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
  return {fraction * halfPi<double>.high, b.widen(quadrant)};
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

/// |x| in [1/2, infinity), double. 53 bits of x times 192 bits of 2/pi give 64 correct bits for the x that is
/// nearest to a multiple of pi/2.
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

/// The magnitude, or 1 if it is not in the domain of `reduceLarge`.
template <class T, class B> V<B, T> orOne(B &b, V<B, T> magnitude) {
  V<B, bool> usable = b.logicalAnd(magnitude >= T(0.5), magnitude < infinity<T>());
  return b.select(usable, magnitude, b.constant(T(1)));
}

/// Below this bound, Cody and Waite's reduction can subtract the integer part of x * 2/pi.
inline constexpr double trigLarge = 0x1p30;

/// x - k * pi/2.high is exact for the nearest multiple of pi/2: both are multiples of 2^-53 that differ by
/// less than 1.
template <class B> TrigReduced<B, float> reduceTrig(B &b, V<B, float> magnitude) {
  V<B, double> x = b.widen(magnitude);
  Rounded<B, double> k = roundToInteger<double>(b, x, invHalfPi);
  V<B, double> first = b.fma(k.value, b.constant(-halfPi<double>.high), x);
  V<B, double> rest = b.fma(k.value, b.constant(-halfPi<double>.low), first);
  auto [r, quadrant] =
      b.rarely(magnitude >= float(trigLarge), std::tuple<V<B, double>, V<B, uint64_t>>{rest, k.integer}, [&] {
        TrigReduced<B, float> large = reduceLarge<B>(b, orOne<float>(b, magnitude));
        return std::tuple<V<B, double>, V<B, uint64_t>>{large.r, large.quadrant};
      });
  return {r, quadrant};
}

/// Arguments of sin and cos in float below this bound are reduced in float.
inline constexpr float trigNear = 0x1p13f;

/// |x| = r + quadrant * pi/2 for |x| < trigNear, where r is a pair of floats. The multiples of the first two
/// parts of pi/2 are floats, so only the last product is rounded.
template <class B> struct NearReduced {
  Pair<B, float> r;
  V<B, uint32_t> quadrant;
};
template <class B> NearReduced<B> reduceNear(B &b, V<B, float> magnitude) {
  Rounded<B, float> k = roundToInteger<float>(b, magnitude, float(invHalfPi));
  V<B, float> second = b.constant(-halfPiParts.values[1]), third = b.constant(-halfPiParts.values[2]);
  V<B, float> first = b.fma(k.value, b.constant(-halfPiParts.values[0]), magnitude);
  V<B, float> high = b.fma(k.value, second, first);
  return {{high, b.fma(k.value, third, b.fma(k.value, second, first - high))}, k.integer};
}

template <class B> TrigReduced<B, double> reduceTrig(B &b, V<B, double> magnitude) {
  Rounded<B, double> k = roundToInteger<double>(b, magnitude, invHalfPi);
  V<B, double> first = b.fma(k.value, b.constant(-halfPi<double>.high), magnitude);
  Pair<B, double> product = twoProduct<double>(b, k.value, b.constant(-halfPi<double>.low));
  Pair<B, double> rest = twoSum<double>(b, first, product.high);
  rest.low = b.fma(k.value, b.constant(-halfPiThird), rest.low + product.low);
  using Parts = std::tuple<V<B, double>, V<B, double>, V<B, uint64_t>>;
  auto [high, low, quadrant] = b.rarely(magnitude >= trigLarge, Parts{rest.high, rest.low, k.integer}, [&] {
    TrigReduced<B, double> large = reduceLarge<B>(b, orOne<double>(b, magnitude));
    return Parts{large.r.high, large.r.low, large.quadrant};
  });
  return {{high, low}, quadrant};
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_TRIGONOMETRICREDUCTION_H
