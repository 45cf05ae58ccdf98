/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "DeviceContext.h"

#include <algorithm>

using namespace adrt;

int32_t DeviceContext::beginRun() {
  memory.beginRun();
  if (context.interrupted)
    getDevice().interrupted = [this] { return context.isInterrupted(); };
  writtenResults.clear();
  return context.measurement ? context.finish(getDevice().startClock(), nullptr) : ADRT_OK;
}

int32_t DeviceContext::endRun(int32_t status) {
  Device &device = getDevice();
  if (context.measurement && status == ADRT_OK)
    status = context.finish(device.stopClock(context.measurement->seconds), nullptr);
  if (context.measurement)
    writtenResults.clear();
  // The host also gets what a failed run sent before the failure.
  int32_t delivered = transfers.deliver(Transfers::Wait::Yes);
  status = status == ADRT_OK ? delivered : status;
  for (const auto &[number, data] : writtenResults)
    if (status == ADRT_OK)
      status = context.finish(device.read(data.first, memory.resultData(number), data.second), nullptr);
  // Also after an error: the next run reuses the memory that enqueued work accesses.
  int32_t waited = context.finish(device.synchronize(), nullptr);
  device.interrupted = nullptr;
  return status == ADRT_OK ? waited : status;
}

void *DeviceContext::require(void *allocated, int64_t bytes, const char *purpose) {
  context.arenaPeak = std::max(context.arenaPeak, memory.getBytes());
  if (!allocated) {
    std::string size =
        bytes < 0 || bytes == INT64_MAX ? "unrepresentable size" : std::to_string(bytes) + " bytes";
    context.finish(getDevice().explainFailure(purpose + (" of " + size)), nullptr);
    return nullptr;
  }
  if (context.poisonMemory && context.finish(getDevice().fill(allocated, 0xff, bytes), nullptr) != ADRT_OK)
    return nullptr;
  return allocated;
}

void *DeviceContext::allocateArena(int64_t bytes) {
  return require(memory.arena(bytes), bytes, "the arena of intermediate tensors");
}

void *DeviceContext::allocateBuffer(int32_t number, int64_t bytes) {
  return require(memory.buffer(number, bytes), bytes, "an intermediate tensor");
}

void *DeviceContext::allocateResult(int32_t index, void *hostMemory, int64_t bytes) {
  writtenResults[index] = {hostMemory, bytes};
  return require(memory.result(index, bytes), bytes, "a result");
}

void *DeviceContext::copyArgument(const adrt_tensor &argument, int32_t index) {
  int64_t bytes = byteSize(argument.type, argument.rank, argument.shape);
  void *copy = require(memory.argument(index, bytes), bytes, "an argument");
  if (!copy)
    return nullptr;
  const auto &measurement = context.measurement;
  bool stays = measurement && static_cast<size_t>(index) < measurement->overwritten.size() &&
               !measurement->overwritten[static_cast<size_t>(index)];
  if (stays && !memory.isFirstUse(index))
    return copy;
  return context.finish(getDevice().write(copy, argument.data, bytes), nullptr) == ADRT_OK ? copy : nullptr;
}

void *DeviceContext::copyConstant(const void *data, int64_t bytes) {
  bool known = false;
  void *copy = memory.constant(data, bytes, known);
  if (known)
    return copy;
  copy = require(copy, bytes, "a constant");
  return copy && context.finish(getDevice().write(copy, data, bytes), nullptr) == ADRT_OK ? copy : nullptr;
}

int32_t DeviceContext::launch(const Launch &launch) {
  // A poll would end the list of commands that are replayed together.
  if (int32_t status = context.checkInterrupt(); status != ADRT_OK)
    return status;
  Device &device = getDevice();
  Watchdog *watchdog = context.watchdog.get();
  if (!watchdog)
    return context.finish(device.launch(launch), launch.site);
  // The process may end during the kernel, so the host gets earlier values first.
  if (int32_t status = transfers.deliver(Transfers::Wait::Yes); status != ADRT_OK)
    return status;
  watchdog->begin(device.kernelName(launch.kernel), launch.site);
  Outcome outcome = device.launch(launch);
  if (outcome.ok())
    outcome = device.synchronize();
  watchdog->end();
  return context.finish(outcome, launch.site);
}

int32_t DeviceContext::describe(const adrt_site *site, void *map, const adrt_tensor &tensor,
                                const Tiles &tiles) {
  TensorMaps &maps = memory.getMaps();
  TensorMaps::Key key = TensorMaps::keyOf(tensor, tiles);
  if (maps.find(key, map))
    return ADRT_OK;
  Outcome outcome = getDevice().describe(map, tensor, tiles);
  if (outcome.ok())
    maps.add(std::move(key), map);
  return context.finish(outcome, site);
}

int32_t DeviceContext::poll() {
  int32_t status = context.finish(getDevice().submit(), nullptr);
  return status == ADRT_OK ? transfers.deliver(Transfers::Wait::No) : status;
}
