/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Tensors of the runtime as tensor maps of the hardware describe them. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_TILEDTENSOR_H
#define ADJOINT_LIB_RUNTIME_HOST_TILEDTENSOR_H

#include "adjoint/Runtime/Host/Context.h"

#include <algorithm>

namespace adrt {

/// Axes from the one that is contiguous, strides in bytes.
struct TiledTensor {
  static constexpr int32_t mostAxes = 5;

  uint32_t rank = 0;
  uint64_t sizes[mostAxes] = {}, strides[mostAxes] = {};
  uint32_t box[mostAxes] = {};

  /// The tensor must have 1 to `mostAxes` axes. Axes without elements, of which nothing is ever copied, count
  /// as having one: maps have no others.
  TiledTensor(const adrt_tensor &tensor, const uint32_t *tile) : rank(static_cast<uint32_t>(tensor.rank)) {
    auto stride = static_cast<uint64_t>(elementSize(tensor.type));
    for (uint32_t axis = 0; axis < rank; ++axis) {
      sizes[axis] = std::max<uint64_t>(1, static_cast<uint64_t>(tensor.shape[rank - 1 - axis]));
      box[axis] = tile[rank - 1 - axis];
      strides[axis] = stride;
      stride *= sizes[axis];
    }
  }
  static bool canDescribe(const adrt_tensor &tensor) { return tensor.rank >= 1 && tensor.rank <= mostAxes; }
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_TILEDTENSOR_H
