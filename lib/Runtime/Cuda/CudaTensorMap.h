/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Encodes tensor maps with the CUDA driver. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDATENSORMAP_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDATENSORMAP_H

#include "CudaDriver.h"
#include "adjoint/Runtime/Host/Device.h"

namespace adrt {

/// Fills `map`. The driver must have tensor maps, and TiledTensor::canDescribe(tensor) must hold.
CudaAnswer encodeTensorMap(const CudaDriver &driver, void *map, const adrt_tensor &tensor,
                           const Tiles &tiles);

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDATENSORMAP_H
