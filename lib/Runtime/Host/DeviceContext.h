/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The part of a context that exists for programs for a device: their memory on the device, their transfers,
   and the results that the host copies at the end of a run. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_DEVICECONTEXT_H
#define ADJOINT_LIB_RUNTIME_HOST_DEVICECONTEXT_H

#include "DeviceMemory.h"
#include "Transfers.h"
#include "adjoint/Runtime/Host/Context.h"

#include <map>
#include <utility>

namespace adrt {

/// Functions that return memory return null, and those that return a status another one than ADRT_OK, after
/// an error, which `context` then has.
class DeviceContext {
public:
  DeviceContext(adrt_context &context, std::shared_ptr<Device> device)
      : context(context), memory(std::move(device)), transfers(context, memory.getDevice()) {}

  Device &getDevice() { return memory.getDevice(); }
  bool isOf(const std::shared_ptr<Device> &device) const { return memory.isOf(device); }
  Transfers &getTransfers() { return transfers; }

  int32_t beginRun();
  /// Delivers received values and results, and waits for the device. `status` is the program's own.
  int32_t endRun(int32_t status);

  void *allocateArena(int64_t bytes);
  void *allocateBuffer(int32_t number, int64_t bytes);
  /// The host gets the result in `hostMemory` when the run ends.
  void *allocateResult(int32_t index, void *hostMemory, int64_t bytes);
  /// The copies of arguments and constants on the device.
  void *copyArgument(const adrt_tensor &argument, int32_t index);
  void *copyConstant(const void *data, int64_t bytes);

  int32_t launch(const Launch &launch);
  int32_t describe(const adrt_site *site, void *map, const adrt_tensor &tensor, const Tiles &tiles);
  /// Submits deferred commands, and delivers received values that have arrived.
  int32_t poll();

private:
  void *require(void *allocated, int64_t bytes, const char *purpose);

  adrt_context &context;
  DeviceMemory memory;
  Transfers transfers; // destroyed before the device
  // Results of this run on the device, by number: their host memory and their bytes.
  std::map<int32_t, std::pair<void *, int64_t>> writtenResults;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_DEVICECONTEXT_H
