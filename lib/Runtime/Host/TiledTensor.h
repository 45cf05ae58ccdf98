/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The shape of a tensor in the terms of a tensor map. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_TILEDTENSOR_H
#define ADJOINT_LIB_RUNTIME_HOST_TILEDTENSOR_H

#include "adjoint/Runtime/Host/Context.h"

#include <algorithm>

namespace adrt {

/// The contiguous axis comes first; strides are in bytes.
struct TiledTensor {
  static constexpr int32_t maxAxes = 5;

  uint32_t rank = 0;
  uint64_t sizes[maxAxes] = {}, strides[maxAxes] = {};
  uint32_t box[maxAxes] = {};

  /// The tensor must have 1 to `maxAxes` axes. An axis without elements gets size 1, since tensor maps have
  /// no size 0; nothing of such a tensor is ever loaded.
  TiledTensor(const adrt_tensor &tensor, const uint32_t *tile) : rank(static_cast<uint32_t>(tensor.rank)) {
    auto stride = static_cast<uint64_t>(elementSize(tensor.type));
    for (uint32_t axis = 0; axis < rank; ++axis) {
      sizes[axis] = std::max<uint64_t>(1, static_cast<uint64_t>(tensor.shape[rank - 1 - axis]));
      box[axis] = tile[rank - 1 - axis];
      strides[axis] = stride;
      stride *= sizes[axis];
    }
  }
  static bool canDescribe(const adrt_tensor &tensor) { return tensor.rank >= 1 && tensor.rank <= maxAxes; }
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_TILEDTENSOR_H
