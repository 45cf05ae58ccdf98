// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions between element types on the bits of scalars.
#include "adjoint/Numerics/Casts.h"
#include "NarrowFormats.h"

namespace mlir::ad::numerics {

static uint64_t lowBits(uint64_t bits, int bytes) {
  return bytes == 8 ? bits : bits & ((uint64_t(1) << (8 * bytes)) - 1);
}

float toFloat(ElementType from, uint64_t bits) {
  ScalarBuilder b;
  if (from == ElementType::F64)
    return static_cast<float>(b.fromBits(bits));
  if (from == ElementType::F32)
    return b.fromBits(static_cast<uint32_t>(bits));
  if (isNarrowFloat(from))
    return widenFloat(b, static_cast<uint32_t>(lowBits(bits, sizeInBytes(from))), narrowFormat(from));
  return static_cast<float>(toInteger(from, bits));
}

double toDouble(ElementType from, uint64_t bits) {
  if (from == ElementType::F64)
    return ScalarBuilder().fromBits(bits);
  return isFloat(from) ? toFloat(from, bits) : static_cast<double>(toInteger(from, bits));
}

/// One rounding from a value of either computed type.
template <class T> static uint64_t fromComputed(ElementType to, T value) {
  ScalarBuilder b;
  if (isNarrowFloat(to))
    return narrowFloat<T>(b, value, narrowFormat(to));
  switch (to) {
  case ElementType::F64:
    return b.bits(static_cast<double>(value));
  case ElementType::F32:
    return b.bits(static_cast<float>(value));
  case ElementType::I1:
    return value != 0;
  case ElementType::I64:
    return floatToInteger<uint64_t, T>(b, value, 64);
  default:
    return lowBits(floatToInteger<uint32_t, T>(b, value, 8 * sizeInBytes(to)), sizeInBytes(to));
  }
}

uint64_t fromDouble(ElementType to, double value) { return fromComputed(to, value); }
uint64_t fromFloat(ElementType to, float value) { return fromComputed(to, value); }

int64_t toInteger(ElementType from, uint64_t bits) {
  switch (from) {
  case ElementType::I1:
    return (bits & 1) != 0;
  case ElementType::I8:
    return static_cast<int8_t>(bits);
  case ElementType::I32:
    return static_cast<int32_t>(bits);
  case ElementType::I64:
    return static_cast<int64_t>(bits);
  case ElementType::F64:
    return static_cast<int64_t>(fromDouble(ElementType::I64, toDouble(from, bits)));
  default:
    return static_cast<int64_t>(fromFloat(ElementType::I64, toFloat(from, bits)));
  }
}

uint64_t fromInteger(ElementType to, int64_t value) {
  ScalarBuilder b;
  if (isNarrowFloat(to))
    return fromDouble(to, integerToDoubleOdd(b, static_cast<uint64_t>(value)));
  switch (to) {
  case ElementType::F64:
    return b.bits(static_cast<double>(value));
  case ElementType::F32:
    return b.bits(static_cast<float>(value));
  case ElementType::I1:
    return value != 0;
  default:
    return lowBits(static_cast<uint64_t>(value), sizeInBytes(to));
  }
}

uint64_t castScalar(ElementType from, ElementType to, uint64_t bits) {
  if (from == to)
    return from == ElementType::I1 ? bits & 1 : lowBits(bits, sizeInBytes(from));
  if (!isFloat(from))
    return fromInteger(to, toInteger(from, bits));
  return from == ElementType::F64 ? fromDouble(to, toDouble(from, bits)) : fromFloat(to, toFloat(from, bits));
}

} // namespace mlir::ad::numerics
