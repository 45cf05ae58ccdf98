/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   An NVIDIA GPU as a device of programs. It calls the driver alone: neither building nor running needs the
   CUDA toolkit. */
#ifndef ADJOINT_RUNTIME_CUDA_CUDADEVICE_H
#define ADJOINT_RUNTIME_CUDA_CUDADEVICE_H

#include "adjoint/Runtime/Host/Device.h"

#include <memory>
#include <string>
#include <vector>

namespace adrt {

/// Why there is no GPU to run on; empty when there is one. The driver is loaded once, from $ADJOINT_LIBCUDA,
/// which names a library or its folder. Without that variable it is the libcuda.so.1 that the loader finds,
/// or one in the usual folders of drivers.
std::string findCudaProblem();

/// The first GPU's chip, such as sm_90; empty when there is none.
std::string findCudaChip();
/// The first GPU and the version of its driver, such as `NVIDIA H100, CUDA 13.0`; empty when there is none.
std::string findCudaName();
/// Lines that describe the driver and each GPU with its limits; or a line that says why there is no GPU.
std::string describeCuda();

/// The first GPU, with the kernels of `image`, PTX or machine code, by number. Null, with the reason in
/// `problem`, when the driver refuses.
std::unique_ptr<Device> makeCudaDevice(const std::string &image, const std::vector<std::string> &kernels,
                                       std::string &problem);

} // namespace adrt

#endif // ADJOINT_RUNTIME_CUDA_CUDADEVICE_H
