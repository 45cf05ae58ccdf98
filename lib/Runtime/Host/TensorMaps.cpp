/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "TensorMaps.h"

#include <cstring>

using namespace adrt;

// Limits the memory of a program whose sizes change in each iteration.
static constexpr size_t maxMaps = 4096;

TensorMaps::Key TensorMaps::keyOf(const adrt_tensor &tensor, const Tiles &tiles) {
  Key key = {reinterpret_cast<uintptr_t>(tensor.data), static_cast<uint64_t>(tensor.type), tiles.swizzleBytes,
             tiles.tf32};
  for (int32_t axis = 0; axis < tensor.rank; ++axis) {
    key.push_back(static_cast<uint64_t>(tensor.shape[axis]));
    key.push_back(tiles.box[axis]);
  }
  return key;
}

bool TensorMaps::find(const Key &key, void *map) const {
  auto known = maps.find(key);
  if (known == maps.end())
    return false;
  std::memcpy(map, known->second.data(), ADRT_TENSOR_MAP_BYTES);
  return true;
}

void TensorMaps::add(Key key, const void *map) {
  if (maps.size() >= maxMaps)
    maps.clear();
  std::memcpy(maps[std::move(key)].data(), map, ADRT_TENSOR_MAP_BYTES);
}
