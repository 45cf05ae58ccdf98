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

/// The requests to one memory by the instructions of one kind in a kernel.
struct AccessTraffic {
  std::string operation;
  bool shared = false;
  uint64_t requests = 0; ///< by warps
  uint64_t units = 0;    ///< wavefronts of shared memory, sectors of global memory
  uint64_t minUnits = 0; ///< the minimum for the requested bytes
};

/// The memory requests of all launches of a kernel.
struct KernelTraffic {
  std::string name;
  std::string kind; ///< the kernel class
  uint64_t launches = 0;
  std::vector<AccessTraffic> accesses;
};

/// How the emulator runs kernels.
struct Emulation {
  adsim::Schedule schedule = adsim::Schedule::Eager;
  uint64_t seed = 0; ///< of the shuffled schedule, mixed with the number of each launch
  bool detectRaces = true;
  unsigned smCount = 132;   ///< as reported to programs; an H100 has 132
  unsigned hostThreads = 1; ///< that run CTAs in parallel, without race detection
};

/// A device whose kernels, by number, are compiled for the emulator. They must outlive it. New memory is
/// filled with ones, so that a read of unwritten memory shows. If `traffic` is not null, the requests of each
/// kernel are counted there, by number, which takes time; it must outlive the device.
std::unique_ptr<Device> makeSimDevice(std::vector<const adsim::KernelCode *> kernels,
                                      const Emulation &emulation = {},
                                      std::vector<KernelTraffic> *traffic = nullptr);
/// A device without kernels, whose memory all emulated devices of the process may access, as all programs of
/// a process may access the memory of a GPU. Memory of the others is their own.
std::unique_ptr<Device> makeSharedSimMemory();

} // namespace adrt

#endif // ADJOINT_RUNTIME_SIM_SIMDEVICE_H
