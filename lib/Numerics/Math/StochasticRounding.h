// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rounding of an f32 to a 16- or 8-bit float by a random word R of 32 bits, on bits. Let u be the distance of
// the two adjacent values of the format that enclose |x|, and d u the distance of |x| from the lower one. The
// result is the upper one exactly if floor(d 2^32) + R >= 2^32. For normal results only the upper bits of R
// decide.
#ifndef ADJOINT_LIB_NUMERICS_MATH_STOCHASTICROUNDING_H
#define ADJOINT_LIB_NUMERICS_MATH_STOCHASTICROUNDING_H

#include "Conversion.h"

namespace mlir::ad::numerics {

/// The code of a magnitude below the smallest normal number of the format.
template <class B>
V<B, uint32_t> roundSubnormal(B &b, V<B, uint32_t> magnitude, V<B, uint32_t> word, NarrowFormat format) {
  V<B, uint32_t> field = magnitude >> 23;
  V<B, uint32_t> exponent = b.select(field < 1u, b.constant(1u), field);
  V<B, uint32_t> significand = magnitude - ((exponent - 1u) << 23);
  V<B, uint32_t> distance = b.constant(uint32_t(127 - format.bias)) - exponent;
  V<B, uint32_t> shift = b.select(distance > 63u, b.constant(63u), distance);
  // |x| in units of the smallest subnormal number, with 32 bits after the binary point.
  V<B, uint64_t> scaled =
      b.template shiftRight<uint64_t>(b.widen(significand) << (format.mantissa + 8), b.widen(shift));
  return b.narrow((scaled + b.widen(word)) >> 32);
}

/// The bits of x rounded to the format, in 32 bits. Results that are too large, infinities and NaN are those
/// of narrowFloat.
template <class B>
V<B, uint32_t> narrowStochastically(B &b, V<B, float> x, V<B, uint32_t> word, NarrowFormat format) {
  const int drop = 23 - format.mantissa;
  const uint32_t rebias = uint32_t(127 - format.bias) << 23;
  V<B, uint32_t> all = b.bits(x), magnitude = all & 0x7fffffffu;
  V<B, uint32_t> code = (magnitude - rebias + (word >> (32 - drop))) >> drop;
  if (format.bias != 127)
    code = b.select(magnitude < rebias + (1u << 23), roundSubnormal<B>(b, magnitude, word, format), code);
  code = b.select(code > format.largest, b.constant(format.overflow), code);
  code = b.select(magnitude > 0x7f800000u, b.constant(format.notANumber), code);
  return code | ((all >> (32 - format.width)) & (1u << (format.width - 1)));
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_MATH_STOCHASTICROUNDING_H
