// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elements as doubles and as positions. Loops have no branches, so that the compiler vectorizes them.
#include "Elements.h"
#include "adjoint/Support/Elements.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace mlir::ad;

namespace {

template <typename T> T load(const char *elements, int64_t index) {
  T value;
  std::memcpy(&value, elements + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T> void convert(const char *elements, int64_t count, double *values) {
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<double>(load<T>(elements, i));
}

/// Values of all bit patterns of a narrow float, which f32 has exactly.
template <adrt_type type, typename Bits> const std::vector<float> &valuesOf() {
  static const std::vector<float> table = [] {
    std::vector<float> values(size_t(1) << (8 * sizeof(Bits)));
    for (size_t pattern = 0; pattern < values.size(); ++pattern) {
      Bits bits = static_cast<Bits>(pattern);
      values[pattern] = static_cast<float>(adrt::loadAsDouble(type, &bits));
    }
    return values;
  }();
  return table;
}

template <adrt_type type, typename Bits> void lookUp(const char *elements, int64_t count, double *values) {
  const float *table = valuesOf<type, Bits>().data();
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<double>(table[load<Bits>(elements, i)]);
}

/// `largest` has the bits of infinity, or of the largest number of a type without one; NaN has more.
template <typename Bits>
uint64_t floatDistance(const char *left, const char *right, int64_t count, Bits largest) {
  constexpr Bits sign = static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));
  constexpr Bits mask = static_cast<Bits>(sign - 1);
  Bits longest = 0, unordered = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits a = load<Bits>(left, i), b = load<Bits>(right, i);
    Bits aSize = a & mask, bSize = b & mask;
    bool aIsNaN = aSize > largest, bIsNaN = bSize > largest;
    unordered |= static_cast<Bits>(aIsNaN != bIsNaN);
    Bits aPlace = static_cast<Bits>(a & sign ? sign - aSize : sign + aSize);
    Bits bPlace = static_cast<Bits>(b & sign ? sign - bSize : sign + bSize);
    Bits distance = static_cast<Bits>(std::max(aPlace, bPlace) - std::min(aPlace, bPlace));
    longest = std::max(longest, aIsNaN || bIsNaN ? Bits(0) : distance);
  }
  return unordered ? diff::kUnordered : longest;
}

template <typename T> uint64_t integerDistance(const char *left, const char *right, int64_t count) {
  uint64_t longest = 0;
  for (int64_t i = 0; i < count; ++i) {
    T a = load<T>(left, i), b = load<T>(right, i);
    // Both are extended by their signs; the difference wraps to the right number.
    uint64_t distance = static_cast<uint64_t>(std::max(a, b)) - static_cast<uint64_t>(std::min(a, b));
    longest = std::max(longest, distance);
  }
  return longest;
}

} // namespace

void diff::toDoubles(adrt_type type, const char *elements, int64_t count, double *values) {
  switch (type) {
  case ADRT_F64:
    return convert<double>(elements, count, values);
  case ADRT_F32:
    return convert<float>(elements, count, values);
  case ADRT_F16:
    return lookUp<ADRT_F16, uint16_t>(elements, count, values);
  case ADRT_BF16:
    return lookUp<ADRT_BF16, uint16_t>(elements, count, values);
  case ADRT_F8E4M3FN:
    return lookUp<ADRT_F8E4M3FN, uint8_t>(elements, count, values);
  case ADRT_F8E5M2:
    return lookUp<ADRT_F8E5M2, uint8_t>(elements, count, values);
  case ADRT_I1:
  case ADRT_I8:
    return convert<int8_t>(elements, count, values);
  case ADRT_I32:
    return convert<int32_t>(elements, count, values);
  case ADRT_I64:
    return convert<int64_t>(elements, count, values);
  }
}

uint64_t diff::maxUlpDistance(adrt_type type, const char *left, const char *right, int64_t count) {
  switch (type) {
  case ADRT_F64:
    return floatDistance<uint64_t>(left, right, count, 0x7ff0000000000000);
  case ADRT_F32:
    return floatDistance<uint32_t>(left, right, count, 0x7f800000);
  case ADRT_F16:
    return floatDistance<uint16_t>(left, right, count, 0x7c00);
  case ADRT_BF16:
    return floatDistance<uint16_t>(left, right, count, 0x7f80);
  case ADRT_F8E4M3FN:
    return floatDistance<uint8_t>(left, right, count, 0x7e);
  case ADRT_F8E5M2:
    return floatDistance<uint8_t>(left, right, count, 0x7c);
  case ADRT_I1:
  case ADRT_I8:
    return integerDistance<int8_t>(left, right, count);
  case ADRT_I32:
    return integerDistance<int32_t>(left, right, count);
  case ADRT_I64:
    return integerDistance<int64_t>(left, right, count);
  }
  return 0;
}
