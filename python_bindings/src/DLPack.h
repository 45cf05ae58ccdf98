// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors in device memory as DLPack capsules, with the structures of dlpack.h, versions 0 and 1.
#ifndef ADJOINT_PYTHON_DLPACK_H
#define ADJOINT_PYTHON_DLPACK_H

#include "DeviceTensors.h"

namespace adjoint_python {

/// The kind of device that DLPack knows a target by: CUDA, or an extension device of the library.
int32_t dlpackDeviceOf(const std::string &target);

/// A capsule that shares the memory of the tensor, of DLPack 1 if `versioned`.
nanobind::object exportCapsule(const DeviceTensor &tensor, bool versioned);

/// The tensor of a capsule, whose memory must be on the device of `heap`; it takes the capsule. Raises
/// ValueError for a tensor that it cannot share.
DeviceTensor importCapsule(nanobind::handle capsule, adrt::DeviceHeap &heap);

/// The tensor in memory of another library, which `release` is called for when it is not used any more.
/// Memory that does not begin where kernels need it is copied. Raises ValueError.
DeviceTensor adoptMemory(adrt::DeviceHeap &heap, void *data, adrt_type type, std::vector<int64_t> shape,
                         bool isReadOnly, std::function<void()> release);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_DLPACK_H
