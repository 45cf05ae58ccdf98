/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "CudaTensorMap.h"
#include "../Host/TiledTensor.h"

#include <algorithm>

using namespace adrt;

// CUtensorMapDataType; elements of types that it lacks are copied as bytes.
static int tensorMapType(int32_t type) {
  switch (type) {
  case ADRT_F64:
    return cudaMapF64;
  case ADRT_F32:
    return cudaMapF32;
  case ADRT_F16:
    return cudaMapF16;
  case ADRT_BF16:
    return cudaMapBF16;
  case ADRT_I32:
    return cudaMapI32;
  case ADRT_I64:
    return cudaMapI64;
  default:
    return cudaMapBytes;
  }
}

// -1, which the driver refuses, for other sizes.
static int tensorMapSwizzle(uint32_t bytes) {
  switch (bytes) {
  case 0:
    return cudaSwizzleNone;
  case 32:
    return cudaSwizzle32;
  case 64:
    return cudaSwizzle64;
  case 128:
    return cudaSwizzle128;
  default:
    return -1;
  }
}

CudaAnswer adrt::encodeTensorMap(const CudaDriver &driver, void *map, const adrt_tensor &tensor,
                                 const Tiles &tiles) {
  TiledTensor tiled(tensor, tiles.box);
  uint32_t steps[TiledTensor::maxAxes];
  std::fill_n(steps, tiled.rank, 1);
  int type = tiles.tf32 ? cudaMapTF32 : tensorMapType(tensor.type);
  // Without the stride of the first axis, which is the size of an element.
  return {"cuTensorMapEncodeTiled",
          driver.cuTensorMapEncodeTiled(map, type, tiled.rank, tensor.data, tiled.sizes, tiled.strides + 1,
                                        tiled.box, steps, cudaInterleaveNone,
                                        tensorMapSwizzle(tiles.swizzleBytes), cudaPromote256, cudaFillZeros)};
}
