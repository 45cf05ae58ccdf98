// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions to bf16 against their definition: between two neighbours, the nearer one, and the even one of a
// tie.
#include "adjoint/Runtime/Host/BF16.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace {

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

uint16_t bitsOf(__bf16 value) { return bitCast<uint16_t>(value); }
uint16_t from32(float value) { return bitsOf(adrt::bf16FromF32(value)); }
uint16_t from64(double value) { return bitsOf(adrt::bf16FromF64(value)); }

/// The number with these bits; what follows the largest one is a power of two.
double valueOf(uint16_t bits) {
  constexpr uint16_t infinity = 0x7f80;
  double magnitude = (bits & 0x7fff) == infinity ? std::ldexp(1.0, 128)
                                                 : bitCast<float>(static_cast<uint32_t>(bits & 0x7fff) << 16);
  return bits & 0x8000 ? -magnitude : magnitude;
}

} // namespace

TEST(BF16, NearestOfNeighbours) {
  for (uint32_t sign : {0u, 0x8000u})
    for (uint32_t magnitude = 0; magnitude < 0x7f80; ++magnitude) {
      auto low = static_cast<uint16_t>(sign | magnitude), high = static_cast<uint16_t>(low + 1);
      double middle = (valueOf(low) + valueOf(high)) / 2;
      uint16_t even = low % 2 == 0 ? low : high;
      auto tie = static_cast<float>(middle); // exact
      ASSERT_EQ(from32(static_cast<float>(valueOf(low))), low);
      ASSERT_EQ(from32(tie), even) << magnitude;
      ASSERT_EQ(from32(std::nextafter(tie, 0.0f)), low) << magnitude;
      ASSERT_EQ(from32(std::nextafter(tie, tie * 2)), high) << magnitude;
      ASSERT_EQ(from64(valueOf(low)), low);
      ASSERT_EQ(from64(middle), even) << magnitude;
      ASSERT_EQ(from64(std::nextafter(middle, 0.0)), low) << magnitude;
      ASSERT_EQ(from64(std::nextafter(middle, middle * 2)), high) << magnitude;
    }
}

TEST(BF16, ValuesThatAreNoNumbers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(from32(infinity), 0x7f80);
  EXPECT_EQ(from64(-infinity), 0xff80);
  EXPECT_EQ(from64(std::numeric_limits<double>::max()), 0x7f80);
  EXPECT_EQ(from64(-std::numeric_limits<double>::denorm_min()), 0x8000);
  EXPECT_EQ(from32(bitCast<float>(0xff800001)), 0xffc0);
  EXPECT_EQ(from32(bitCast<float>(0x7fc00000)), 0x7fc0);
  EXPECT_EQ(from64(std::numeric_limits<double>::quiet_NaN()), 0x7fc0);
}
