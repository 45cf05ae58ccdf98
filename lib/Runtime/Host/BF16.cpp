/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Runtime/Host/BF16.h"

#include <cmath>
#include <cstdint>
#include <cstring>

template <typename To, typename From> static To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

static __bf16 fromBits(uint32_t bits) { return bitCast<__bf16>(static_cast<uint16_t>(bits)); }

__bf16 adrt::bf16FromF32(float value) {
  auto bits = bitCast<uint32_t>(value);
  if (std::isnan(value))
    return fromBits(bits >> 16 | 0x40);
  // Half of the last place, less one for a tie below an even number.
  return fromBits((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

__bf16 adrt::bf16FromF64(double value) {
  auto narrow = static_cast<float>(value);
  // Rounded to odd where it is not exact, so that the second rounding sees on which side of a tie the value
  // is.
  auto bits = bitCast<uint32_t>(narrow);
  if (!std::isnan(value) && static_cast<double>(narrow) != value && (bits & 1) == 0)
    bits += std::abs(static_cast<double>(narrow)) < std::abs(value) ? 1 : static_cast<uint32_t>(-1);
  return bf16FromF32(bitCast<float>(bits));
}
