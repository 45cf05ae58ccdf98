/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The emulated GPU as a device of programs. */
#ifndef ADJOINT_RUNTIME_SIM_SIMDEVICE_H
#define ADJOINT_RUNTIME_SIM_SIMDEVICE_H

#include "adjoint/Emulator/Machine.h"
#include "adjoint/Runtime/Host/Device.h"

#include <memory>
#include <string>
#include <vector>

namespace adrt {

/// The requests of the instructions of one kind in a kernel to one memory.
struct AccessTraffic {
  std::string operation;
  bool shared = false;
  uint64_t requests = 0; ///< of warps
  uint64_t units = 0;    ///< wavefronts of shared memory, sectors of global memory
  uint64_t minUnits = 0; ///< that the requested bytes need
};

/// The memory requests of all launches of a kernel.
struct KernelTraffic {
  std::string name;
  std::string kind; ///< its class
  uint64_t launches = 0;
  std::vector<AccessTraffic> accesses;
};

/// How the emulator runs kernels.
struct Emulation {
  adsim::Schedule schedule = adsim::Schedule::Eager;
  uint64_t seed = 0; ///< of the shuffled schedule, mixed with the number of each launch
  bool detectRaces = true;
  unsigned smCount = 132;   ///< that programs find: as many as an H100 has
  unsigned hostThreads = 1; ///< that run CTAs in parallel where races are not detected
};

/// A device whose kernels are compiled for the emulator, by number. They must outlive it. Its memory is
/// filled with ones at first, so that a read of unwritten memory shows.
/// Traffic is counted where `traffic` is given, by kernel number, and costs time; it must outlive the device.
std::unique_ptr<Device> makeSimDevice(std::vector<const adsim::KernelCode *> kernels,
                                      const Emulation &emulation = {},
                                      std::vector<KernelTraffic> *traffic = nullptr);

} // namespace adrt

#endif // ADJOINT_RUNTIME_SIM_SIMDEVICE_H
