// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// adrt_argsort against std::sort of numbers and positions, for rows of lengths around those at which the sort
// changes, with few and with many different keys.

#include "adjoint/Runtime/Host/Argsort.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/MemoryLimit.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {
/// What the bits of a float with so many bits of exponent and mantissa stand for.
template <int exponentBits, int mantissaBits, bool hasInfinity> double decode(uint64_t bits) {
  int64_t exponent = bits >> mantissaBits & ((1 << exponentBits) - 1), bias = (1 << (exponentBits - 1)) - 1;
  uint64_t mantissa = bits & ((1ull << mantissaBits) - 1), ones = (1ull << mantissaBits) - 1;
  double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
  bool isLast = exponent == (1 << exponentBits) - 1;
  if (isLast && (hasInfinity ? mantissa != 0 : mantissa == ones))
    return std::nan("");
  if (isLast && hasInfinity)
    return sign * INFINITY;
  double fraction = exponent ? 1 + std::ldexp(double(mantissa), -mantissaBits)
                             : std::ldexp(double(mantissa), 1 - mantissaBits);
  return sign * std::ldexp(fraction, int(exponent - bias));
}

template <class T> T reinterpret(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// An element type: the bits that the sort sees, and the number that the oracle compares.
template <int32_t typeNumber, class StoredBits, class ComparedNumber, ComparedNumber (*decodeBits)(uint64_t)>
struct ElementType {
  static constexpr int32_t type = typeNumber;
  using Bits = StoredBits;
  using Number = ComparedNumber;
  static Number numberOf(Bits bits) { return decodeBits(bits); }
};
using ElementTypes = testing::Types<ElementType<ADRT_F64, uint64_t, double, reinterpret<double>>,
                                    ElementType<ADRT_F32, uint32_t, float, reinterpret<float>>,
                                    ElementType<ADRT_F16, uint16_t, double, decode<5, 10, true>>,
                                    ElementType<ADRT_BF16, uint16_t, double, decode<8, 7, true>>,
                                    ElementType<ADRT_F8E4M3FN, uint8_t, double, decode<4, 3, false>>,
                                    ElementType<ADRT_F8E5M2, uint8_t, double, decode<5, 2, true>>,
                                    ElementType<ADRT_I8, uint8_t, int8_t, reinterpret<int8_t>>,
                                    ElementType<ADRT_I32, uint32_t, int32_t, reinterpret<int32_t>>,
                                    ElementType<ADRT_I64, uint64_t, int64_t, reinterpret<int64_t>>>;

template <class Number> bool comesBefore(Number a, Number b, bool isDescending) {
  if (a != a || b != b)
    return a == a;
  return isDescending ? a > b : a < b;
}

template <class Element> class Argsort : public testing::Test {
protected:
  using Bits = typename Element::Bits;

  void check(const std::vector<Bits> &keys, int64_t length, bool isDescending) {
    int64_t rows = length ? static_cast<int64_t>(keys.size()) / length : 0;
    std::vector<int64_t> expected(keys.size()), found(keys.size(), -1);
    for (int64_t row = 0; row < rows; ++row) {
      auto number = [&](int64_t i) { return Element::numberOf(keys[row * length + i]); };
      auto first = expected.begin() + row * length;
      std::iota(first, first + length, 0);
      std::sort(first, first + length, [&](int64_t a, int64_t b) {
        return comesBefore(number(a), number(b), isDescending) ||
               (a < b && !comesBefore(number(b), number(a), isDescending));
      });
    }
    adrt_argsort(keys.data(), found.data(), 0, rows, length, Element::type, isDescending);
    EXPECT_EQ(found, expected) << "rows of " << length;
  }

  void checkBoth(const std::vector<Bits> &keys, int64_t length) {
    check(keys, length, false);
    check(keys, length, true);
  }

  std::vector<Bits> random(int64_t count, Bits mask) {
    std::vector<Bits> keys(count);
    for (Bits &key : keys)
      key = static_cast<Bits>(generator()) & mask;
    return keys;
  }

  std::mt19937_64 generator{1};
};
TYPED_TEST_SUITE(Argsort, ElementTypes);

TYPED_TEST(Argsort, AnyBits) {
  for (int64_t length : {0, 1, 2, 3, 23, 24, 25, 26, 255, 256, 257, 4095, 4096, 4097, 20000})
    this->checkBoth(this->random(length, static_cast<typename TypeParam::Bits>(-1)), length);
}

TYPED_TEST(Argsort, Rows) {
  for (int64_t length : {1, 5, 24, 25, 300, 4096})
    this->checkBoth(this->random(3 * length, static_cast<typename TypeParam::Bits>(-1)), length);
}

// Few values: equal keys keep their order, and digits that all keys share are left out.
TYPED_TEST(Argsort, FewValues) {
  using Bits = typename TypeParam::Bits;
  constexpr int width = 8 * sizeof(Bits);
  for (int64_t length : {20, 300, 5000})
    for (int bit = 0; bit < width; ++bit) {
      Bits sign = Bits(1) << (width - 1), one = Bits(1) << bit;
      this->checkBoth(this->random(length, sign | one), length);
    }
}

TYPED_TEST(Argsort, AllEqual) {
  for (int64_t length : {24, 25, 5000})
    this->checkBoth(this->random(length, 0), length);
}

// A range of rows leaves the others alone.
TYPED_TEST(Argsort, Range) {
  auto keys = this->random(4 * 60, static_cast<typename TypeParam::Bits>(-1));
  std::vector<int64_t> positions(keys.size(), -1);
  adrt_argsort(keys.data(), positions.data(), 1, 3, 60, TypeParam::type, 0);
  for (int64_t i = 0; i < 4 * 60; ++i)
    EXPECT_EQ(positions[i] == -1, i < 60 || i >= 180) << i;
}

TYPED_TEST(Argsort, WithoutMemory) {
  adrt::setMemoryLimit(1);
  this->checkBoth(this->random(5000, static_cast<typename TypeParam::Bits>(-1)), 5000);
  adrt::setMemoryLimit(0);
}
} // namespace
