// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The conversions from and to 16- and 8-bit floats and integers, on bits.
#ifndef ADJOINT_LIB_NUMERICS_MATH_CONVERSION_H
#define ADJOINT_LIB_NUMERICS_MATH_CONVERSION_H

#include "Core.h"

namespace mlir::ad::numerics {

/// A 16- or 8-bit float format. `largest` is the code of the largest finite value. Codes above `infinity` are
/// NaN. `overflow` is the code of results that are too large: that of infinity, or `largest` if the format
/// saturates.
struct NarrowFormat {
  int width, mantissa, bias;
  uint32_t largest, infinity, notANumber, overflow;
};

/// The bits of x rounded to the upper half of a float. The carry of the rounding makes overflows infinite.
template <class B> V<B, uint32_t> narrowToUpperHalf(B &b, V<B, float> x, NarrowFormat format) {
  const int drop = 23 - format.mantissa;
  V<B, uint32_t> all = b.bits(x), kept = all >> drop;
  V<B, uint32_t> code = (all + ((1u << (drop - 1)) - 1u) + (kept & 1u)) >> drop;
  V<B, uint32_t> notANumber = (kept & (1u << (format.width - 1))) | format.notANumber;
  return b.select(x != x, notANumber, code);
}

/// The bits of x rounded to the format, in 32 bits.
template <class T, class B> V<B, uint32_t> narrowFloat(B &b, V<B, T> x, NarrowFormat format) {
  using Bits = BitsOf<T>;
  using Layout = FloatLayout<T>;
  constexpr T tInfinity = infinity<T>();
  if constexpr (sizeof(T) == 4)
    if (format.bias == Layout::bias)
      return narrowToUpperHalf<B>(b, x, format);
  const int drop = Layout::mantissa - format.mantissa;
  V<B, Bits> all = b.bits(x), magnitude = all & Bits(~signMask<T>());
  // Normal results: change the bias, then add half a unit minus one, and one more if the last kept bit is
  // odd.
  const Bits rebias = Bits(Layout::bias - format.bias) << Layout::mantissa;
  V<B, Bits> odd = (magnitude >> drop) & Bits(1);
  V<B, Bits> code = (magnitude - rebias + ((Bits(1) << (drop - 1)) - Bits(1)) + odd) >> drop;
  if (format.bias != Layout::bias) {
    // Subnormal results: the last place of this power of two is the smallest subnormal, so the addition
    // rounds to it.
    const Bits unit = Bits(Layout::bias - format.bias + 1 + drop) << Layout::mantissa;
    V<B, Bits> sum = b.bits(b.fromBits(magnitude) + b.fromBits(b.constant(unit)));
    const Bits smallestNormal = Bits(Layout::bias - format.bias + 1) << Layout::mantissa;
    code = b.select(magnitude < smallestNormal, sum - unit, code);
  }
  code = b.select(code > Bits(format.largest), b.constant(Bits(format.overflow)), code);
  code = b.select(magnitude > ScalarBuilder().bits(tInfinity), b.constant(Bits(format.notANumber)), code);
  V<B, Bits> sign = (all >> (Layout::width - format.width)) & (Bits(1) << (format.width - 1));
  code = code | sign;
  if constexpr (sizeof(T) == 8)
    return b.narrow(code);
  else
    return code;
}

/// The value of a code, exactly; only the low bits of `code` may be set.
template <class B> V<B, float> widenFloat(B &b, V<B, uint32_t> code, NarrowFormat format) {
  const int shift = 23 - format.mantissa;
  if (format.width == 16 && format.bias == 127) // bf16 is the upper half of an f32
    return b.fromBits(code << shift);
  const uint32_t signBit = 1u << (format.width - 1);
  V<B, uint32_t> sign = (code & signBit) << (32 - format.width);
  V<B, uint32_t> magnitude = code & (signBit - 1u);
  V<B, uint32_t> bits = magnitude << shift;
  if (format.bias != 127) {
    const uint32_t rebias = uint32_t(127 - format.bias) << 23;
    // The value of a subnormal is the distance of its bits from the smallest normal number.
    const uint32_t normal = uint32_t(128 - format.bias) << 23;
    V<B, float> difference = b.fromBits(bits + normal) - b.fromBits(b.constant(normal));
    V<B, bool> subnormal = magnitude < (1u << format.mantissa);
    V<B, uint32_t> finite = b.select(subnormal, b.bits(difference), bits + rebias);
    V<B, bool> special = magnitude > format.largest;
    V<B, uint32_t> payload =
        b.select(magnitude > format.infinity, b.constant(0x7fc00000u), b.constant(0x7f800000u));
    bits = b.select(special, payload, finite);
  }
  return b.fromBits(bits | sign);
}

/// A 64-bit integer as a double, such that a second rounding to at most 50 bits is correct. From 2^53 on, the
/// bits that a double cannot hold are or-ed into the last kept bit ("round to odd").
template <class B> V<B, double> integerToDoubleOdd(B &b, V<B, uint64_t> x) {
  V<B, uint64_t> mask = b.shiftRightSigned(x, 63);
  V<B, uint64_t> magnitude = (x ^ mask) - mask;
  V<B, uint64_t> sticky =
      b.select((x & uint64_t(0x7ff)) != uint64_t(0), b.constant(uint64_t(0x800)), b.constant(uint64_t(0)));
  V<B, uint64_t> odd = (x & ~uint64_t(0x7ff)) | sticky;
  return b.signedToDouble(b.select(magnitude < (uint64_t(1) << 53), x, odd));
}

/// x towards zero as an integer of `width` bits in the low part of an I; saturates, and NaN gives 0.
template <class I, class T, class B> V<B, I> floatToInteger(B &b, V<B, T> x, int width) {
  const T limit = T(uint64_t(1) << (width - 1));
  const I largest = static_cast<I>((uint64_t(1) << (width - 1)) - 1);
  V<B, bool> above = x >= limit, below = x < -limit;
  V<B, bool> outside = b.logicalOr(b.logicalOr(above, below), x != x);
  V<B, I> result = b.template toSigned<I>(b.select(outside, b.constant(T(0)), x));
  result = b.select(above, b.constant(largest), result);
  return b.select(below, b.constant(static_cast<I>(~largest)), result);
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_CONVERSION_H
