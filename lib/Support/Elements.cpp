/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Elements as doubles and integers. This is for checks, printing and generated arguments only, hence
   arithmetic that follows the definition of the formats instead of tricks with their bits. */
#include "adjoint/Support/Elements.h"
#include "adjoint/Runtime/adrt.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace {

/// A float format of at most 16 bits.
struct SmallFormat {
  int exponentBits, mantissaBits;
  uint32_t largestFinite; // its bits; larger bits, without the sign, are an infinity or a NaN
  uint32_t infinity;      // 0: the format has none
  uint32_t nan;
  bool saturates;

  int smallestExponent() const { return 2 - (1 << (exponentBits - 1)); }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
};

constexpr SmallFormat f16 = {5, 10, 0x7bff, 0x7c00, 0x7e00, false};
constexpr SmallFormat bf16 = {8, 7, 0x7f7f, 0x7f80, 0x7fc0, false};
constexpr SmallFormat f8E4M3FN = {4, 3, 0x7e, 0, 0x7f, true};
constexpr SmallFormat f8E5M2 = {5, 2, 0x7b, 0x7c, 0x7e, true};

double decode(const SmallFormat &format, uint32_t bits) {
  uint32_t magnitude = bits & (format.signBit() - 1);
  double sign = bits & format.signBit() ? -1.0 : 1.0;
  if (magnitude > format.largestFinite)
    return magnitude == format.infinity ? sign * std::numeric_limits<double>::infinity()
                                        : std::numeric_limits<double>::quiet_NaN();
  int exponent = static_cast<int>(magnitude >> format.mantissaBits);
  uint32_t hidden = 1u << format.mantissaBits;
  uint32_t mantissa = magnitude & (hidden - 1);
  if (exponent == 0)
    exponent = 1;
  else
    mantissa |= hidden;
  return sign * std::ldexp(mantissa, exponent - 1 + format.smallestExponent() - format.mantissaBits);
}

uint32_t encode(const SmallFormat &format, double value) {
  if (std::isnan(value))
    return format.nan;
  uint32_t sign = std::signbit(value) ? format.signBit() : 0;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | (format.saturates ? format.largestFinite : format.infinity);
  int exponent = magnitude == 0 ? format.smallestExponent() : std::ilogb(magnitude);
  if (exponent < format.smallestExponent())
    exponent = format.smallestExponent();
  uint32_t overflow = format.saturates ? format.largestFinite : format.infinity;
  if (exponent > 1 << (format.exponentBits - 1))
    return sign | overflow; // far too large: below, the number of units might overflow an integer
  // In units of the last place at this exponent; the value is rounded only once, below.
  double steps = std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
  uint64_t bits = (static_cast<uint64_t>(exponent - format.smallestExponent()) << format.mantissaBits) +
                  static_cast<uint64_t>(steps);
  return sign | (bits > format.largestFinite ? overflow : static_cast<uint32_t>(bits));
}

const SmallFormat *smallFormat(int32_t type) {
  switch (type) {
  case ADRT_F16:
    return &f16;
  case ADRT_BF16:
    return &bf16;
  case ADRT_F8E4M3FN:
    return &f8E4M3FN;
  case ADRT_F8E5M2:
    return &f8E5M2;
  default:
    return nullptr;
  }
}

template <typename T> T load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T> void store(T value, void *element) { std::memcpy(element, &value, sizeof(T)); }

bool isSixteenBits(int32_t type) { return type == ADRT_F16 || type == ADRT_BF16; }

/// float → integer saturates, NaN gives 0.
int64_t toInteger(double value, int64_t low, int64_t high) {
  if (std::isnan(value))
    return 0;
  if (value <= static_cast<double>(low))
    return low;
  if (value >= static_cast<double>(high))
    return high;
  return static_cast<int64_t>(value);
}

} // namespace

int64_t adrt::loadAsInteger(int32_t type, const void *element) {
  switch (type) {
  case ADRT_I1:
  case ADRT_I8:
    return load<int8_t>(element);
  case ADRT_I32:
    return load<int32_t>(element);
  case ADRT_I64:
    return load<int64_t>(element);
  default:
    return toInteger(loadAsDouble(type, element), INT64_MIN, INT64_MAX);
  }
}

double adrt::loadAsDouble(int32_t type, const void *element) {
  if (type == ADRT_F64)
    return load<double>(element);
  if (type == ADRT_F32)
    return load<float>(element);
  if (const SmallFormat *format = smallFormat(type))
    return decode(*format, isSixteenBits(type) ? load<uint16_t>(element) : load<uint8_t>(element));
  return static_cast<double>(loadAsInteger(type, element));
}

void adrt::storeFromDouble(int32_t type, double value, void *element) {
  if (const SmallFormat *format = smallFormat(type)) {
    uint32_t bits = encode(*format, value);
    return isSixteenBits(type) ? store(static_cast<uint16_t>(bits), element)
                               : store(static_cast<uint8_t>(bits), element);
  }
  switch (type) {
  case ADRT_F64:
    return store(value, element);
  case ADRT_F32:
    return store(static_cast<float>(value), element);
  case ADRT_I1:
    return store(static_cast<int8_t>(value != 0), element);
  case ADRT_I8:
    return store(static_cast<int8_t>(toInteger(value, INT8_MIN, INT8_MAX)), element);
  case ADRT_I32:
    return store(static_cast<int32_t>(toInteger(value, INT32_MIN, INT32_MAX)), element);
  case ADRT_I64:
    return store(toInteger(value, INT64_MIN, INT64_MAX), element);
  default:
    return;
  }
}

void adrt::storeFromInteger(int32_t type, int64_t value, void *element) {
  switch (type) {
  case ADRT_F32: // not through double, which would round twice
    return store(static_cast<float>(value), element);
  case ADRT_I1:
    return store(static_cast<int8_t>(value & 1), element);
  case ADRT_I8:
    return store(static_cast<int8_t>(value), element);
  case ADRT_I32:
    return store(static_cast<int32_t>(value), element);
  case ADRT_I64:
    return store(value, element);
  default:
    return storeFromDouble(type, static_cast<double>(value), element);
  }
}
