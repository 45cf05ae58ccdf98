/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The emulator's encoding of a tensor map. Kernels treat it as opaque. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_TENSORMAP_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_TENSORMAP_H

#include "adjoint/Emulator/Machine.h"

namespace adsim {

struct TensorMap {
  static constexpr uint64_t expectedMagic = 0x70616d746d736461; // "adsmtmap"
  uint64_t magic = 0;
  char *base = nullptr;
  uint64_t sizes[5] = {}, strides[5] = {};
  uint16_t box[5] = {};
  uint16_t elementBytes = 0;
  uint8_t rank = 0, swizzleBytes = 0;
  bool tf32 = false;

  uint32_t boxBytes() const {
    uint32_t bytes = elementBytes;
    for (uint32_t axis = 0; axis < rank; ++axis)
      bytes *= box[axis];
    return bytes;
  }
  uint32_t rowBytes() const { return uint32_t(box[0]) * elementBytes; }
};
static_assert(sizeof(TensorMap) <= tensorMapBytes, "a kernel passes it as 128 bytes");

/// XOR swizzle: the address of the byte that is logically at `address`. The 16-byte chunk c of row r is
/// stored at chunk c ^ (r % n), where n is the number of chunks in `swizzleBytes`.
inline uint64_t swizzle(uint64_t address, uint32_t swizzleBytes) {
  uint64_t chunks = swizzleBytes ? swizzleBytes - 16 : 0;
  return address ^ ((address >> 3) & chunks);
}

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_TENSORMAP_H
