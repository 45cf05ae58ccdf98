/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The emulated GPU as a device of programs. */
#ifndef ADJOINT_RUNTIME_SIMDEVICE_H
#define ADJOINT_RUNTIME_SIMDEVICE_H

#include "adjoint/Emulator/Machine.h"
#include "adjoint/Runtime/Device.h"

#include <memory>
#include <vector>

namespace adrt {

/// A device whose kernels are compiled for the emulator, by number. They must outlive it. Its memory is
/// filled with ones at first, so that a read of unwritten memory shows.
std::unique_ptr<Device> makeSimDevice(std::vector<const adsim::KernelCode *> kernels, unsigned hostThreads);

} // namespace adrt

#endif // ADJOINT_RUNTIME_SIMDEVICE_H
