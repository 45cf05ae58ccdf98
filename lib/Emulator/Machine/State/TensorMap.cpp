/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Encoding tensor maps, under the conditions of cuTensorMapEncodeTiled. */
#include "TensorMap.h"

#include <cstring>

using namespace adsim;

static std::string checkAxis(const TensorMapSpec &spec, uint32_t axis) {
  constexpr uint64_t maxElements = uint64_t(1) << 32, maxStride = uint64_t(1) << 40;
  std::string name = "axis " + std::to_string(axis);
  if (!spec.sizes[axis] || spec.sizes[axis] > maxElements)
    return name + " has " + std::to_string(spec.sizes[axis]) + " elements, expected 1 to 2^32";
  if (!spec.box[axis] || spec.box[axis] > 256)
    return name + " of the box has " + std::to_string(spec.box[axis]) + " elements, expected 1 to 256";
  if (axis && (spec.strides[axis] % 16 || spec.strides[axis] >= maxStride))
    return name + " has a stride of " + std::to_string(spec.strides[axis]) +
           " bytes, expected a multiple of 16 below 2^40";
  return "";
}

static std::string check(const TensorMapSpec &spec) {
  if (spec.rank < 1 || spec.rank > 5)
    return "rank " + std::to_string(spec.rank) + ", expected 1 to 5";
  if (spec.elementBytes != 1 && spec.elementBytes != 2 && spec.elementBytes != 4 && spec.elementBytes != 8)
    return "elements of " + std::to_string(spec.elementBytes) + " bytes, expected 1, 2, 4 or 8";
  if (spec.tf32 && spec.elementBytes != 4)
    return "elements of " + std::to_string(spec.elementBytes) + " bytes, which are no tf32";
  if (reinterpret_cast<uint64_t>(spec.base) % 16)
    return "the tensor is not aligned to 16 bytes";
  for (uint32_t axis = 0; axis < spec.rank; ++axis)
    if (std::string problem = checkAxis(spec, axis); !problem.empty())
      return problem;
  uint32_t row = spec.box[0] * spec.elementBytes;
  if (row % 16)
    return "rows of the box have " + std::to_string(row) + " bytes, expected a multiple of 16";
  if (spec.swizzleBytes && spec.swizzleBytes != 32 && spec.swizzleBytes != 64 && spec.swizzleBytes != 128)
    return "a swizzle of " + std::to_string(spec.swizzleBytes) + " bytes, expected 0, 32, 64 or 128";
  if (spec.swizzleBytes && row > spec.swizzleBytes)
    return "rows of the box have " + std::to_string(row) + " bytes, more than the swizzle of " +
           std::to_string(spec.swizzleBytes);
  return "";
}

std::string adsim::encodeTensorMap(void *map, const TensorMapSpec &spec) {
  std::string problem = check(spec);
  if (!problem.empty())
    return problem;
  TensorMap encoded;
  encoded.magic = TensorMap::expectedMagic;
  encoded.base = static_cast<char *>(spec.base);
  encoded.rank = static_cast<uint8_t>(spec.rank);
  encoded.elementBytes = static_cast<uint16_t>(spec.elementBytes);
  encoded.swizzleBytes = static_cast<uint8_t>(spec.swizzleBytes);
  encoded.tf32 = spec.tf32;
  for (uint32_t axis = 0; axis < spec.rank; ++axis) {
    encoded.sizes[axis] = spec.sizes[axis];
    encoded.strides[axis] = axis ? spec.strides[axis] : spec.elementBytes;
    encoded.box[axis] = static_cast<uint16_t>(spec.box[axis]);
  }
  std::memset(map, 0, tensorMapBytes);
  std::memcpy(map, &encoded, sizeof(encoded));
  return "";
}
