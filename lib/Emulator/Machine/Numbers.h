/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Conversions of the element types of matrix instructions. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_NUMBERS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_NUMBERS_H

#include "../Abi.h"

#include <cstring>

namespace adsim {

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float fromBF16(uint16_t bits) { return floatFromBits(uint32_t(bits) << 16); }

/// The multiplication rebiases the exponent and normalises subnormals, without rounding.
inline float fromF16(uint16_t bits) {
  constexpr float rebias = 0x1p112f;
  uint32_t magnitude = uint32_t(bits & 0x7fff) << 13, sign = uint32_t(bits & 0x8000) << 16;
  bool special = (bits & 0x7c00) == 0x7c00;
  uint32_t finite = bitsOfFloat(floatFromBits(magnitude) * rebias);
  return floatFromBits(sign | (special ? magnitude | 0x7f800000 : finite));
}

/// f16 has the exponents of E5M2, and E5M2 is its upper half.
inline float fromE5M2(uint8_t bits) { return fromF16(static_cast<uint16_t>(bits << 8)); }

/// E4M3 has no infinity: only the largest magnitude is NaN.
inline float fromE4M3(uint8_t bits) {
  constexpr float rebias = 0x1p120f;
  uint32_t magnitude = uint32_t(bits & 0x7f) << 20, sign = uint32_t(bits & 0x80) << 24;
  bool nan = (bits & 0x7f) == 0x7f;
  return floatFromBits(sign | (nan ? 0x7fc00000 : bitsOfFloat(floatFromBits(magnitude) * rebias)));
}

/// Round to nearest even; adding a power of two of the right size lets the hardware round subnormals.
inline uint16_t toF16(float value) {
  uint32_t bits = bitsOfFloat(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return 0x7fff;
  constexpr uint32_t overflow = 0x477ff000, smallestNormal = 0x38800000;
  if (magnitude >= overflow)
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < smallestNormal) {
    uint32_t rounded = bitsOfFloat(floatFromBits(magnitude) + 0.5f) - bitsOfFloat(0.5f);
    return static_cast<uint16_t>(sign | rounded);
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
}

/// An f32 as an operand of type tf32: the lowest 13 bits are ignored.
inline float asTF32(uint32_t bits) { return floatFromBits(bits & 0xffffe000); }

/// The nearest tf32 of an f32, ties to even. Infinities and NaN are unchanged.
inline uint32_t toTF32(uint32_t bits) {
  bool special = (bits & 0x7f800000) == 0x7f800000;
  return special ? bits : (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

inline bool isHalf(ElementKind kind) { return kind == ElementKind::F16 || kind == ElementKind::BF16; }

inline uint32_t elementBits(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
  case ElementKind::BF16:
    return 16;
  case ElementKind::S8:
  case ElementKind::U8:
  case ElementKind::E4M3:
  case ElementKind::E5M2:
    return 8;
  case ElementKind::F64:
    return 64;
  default:
    return 32;
  }
}

inline bool isIntegerKind(ElementKind kind) { return kind == ElementKind::S8 || kind == ElementKind::U8; }

/// The element in the low bits of `bits` as a float, which is exact for integers too.
inline float factor(ElementKind kind, uint32_t bits) {
  switch (kind) {
  case ElementKind::F16:
    return fromF16(static_cast<uint16_t>(bits));
  case ElementKind::BF16:
    return fromBF16(static_cast<uint16_t>(bits));
  case ElementKind::S8:
    return static_cast<int8_t>(bits);
  case ElementKind::U8:
    return static_cast<uint8_t>(bits);
  case ElementKind::TF32:
    return asTF32(bits);
  case ElementKind::E4M3:
    return fromE4M3(static_cast<uint8_t>(bits));
  case ElementKind::E5M2:
    return fromE5M2(static_cast<uint8_t>(bits));
  default:
    return floatFromBits(bits);
  }
}

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_NUMBERS_H
