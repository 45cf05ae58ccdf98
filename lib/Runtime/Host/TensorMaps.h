/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A cache of encoded tensor maps: iterations of a loop use the same tensors at the same addresses. Internal
   to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_TENSORMAPS_H
#define ADJOINT_LIB_RUNTIME_HOST_TENSORMAPS_H

#include "adjoint/Runtime/Host/Device.h"

#include <array>
#include <map>
#include <vector>

namespace adrt {

class TensorMaps {
public:
  /// Everything that a tensor map depends on.
  using Key = std::vector<uint64_t>;

  static Key keyOf(const adrt_tensor &tensor, const Tiles &tiles);
  /// Fills `map` and returns true when the key is known.
  bool find(const Key &key, void *map) const;
  void add(Key key, const void *map);

private:
  std::map<Key, std::array<unsigned char, ADRT_TENSOR_MAP_BYTES>> maps;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_TENSORMAPS_H
