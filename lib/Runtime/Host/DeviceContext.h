/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The part of a context that exists for programs for a device: their memory on the device, their transfers,
   and their results, which the host copies at the end of a run, or which stay on the device. Internal to the
   runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_DEVICECONTEXT_H
#define ADJOINT_LIB_RUNTIME_HOST_DEVICECONTEXT_H

#include "DeviceMemory.h"
#include "Transfers.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/Host/DeviceHeap.h"

#include <map>
#include <vector>

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
  /// A result that stays on the device, in memory of the heap if the context has one.
  void *allocateKeptResult(int32_t index, int64_t bytes);
  std::shared_ptr<DeviceBlock> takeResult(int32_t index);
  /// Result `index` is in `data`; the host gets it in `hostMemory` when the run ends.
  void readAtEnd(int32_t index, void *data, void *hostMemory, int64_t bytes);
  /// The data of an argument in device memory, or a copy of one in host memory.
  void *argumentOnDevice(const adrt_tensor &argument, int32_t index);
  /// The copy of a constant on the device.
  void *copyConstant(const void *data, int64_t bytes);

  int32_t launch(const Launch &launch);
  int32_t describe(const adrt_site *site, void *map, const adrt_tensor &tensor, const Tiles &tiles);
  /// Submits deferred commands, and delivers received values that have arrived.
  int32_t poll();

private:
  void *copyArgument(const adrt_tensor &argument, int32_t index);
  void *require(void *allocated, int64_t bytes, const char *purpose);

  adrt_context &context;
  DeviceMemory memory;
  Transfers transfers; // destroyed before the device
  /// A result of this run that the host gets at its end.
  struct Read {
    void *device, *host;
    int64_t bytes;
  };
  std::map<int32_t, Read> reads;                               // by number of the result
  std::map<int32_t, std::shared_ptr<DeviceBlock>> keptResults; // those of the heap
  std::vector<std::shared_ptr<DeviceBlock>> replacedResults;   // enqueued work may write them
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_DEVICECONTEXT_H
