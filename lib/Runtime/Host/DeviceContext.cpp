/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "DeviceContext.h"

#include <algorithm>

using namespace adrt;

int32_t DeviceContext::beginRun() {
  memory.beginRun();
  if (context.interrupted)
    getDevice().interrupted = [this] { return context.isInterrupted(); };
  reads.clear();
  keptResults.clear();
  return context.measured ? context.finish(getDevice().startClock(), nullptr) : ADRT_OK;
}

int32_t DeviceContext::endRun(int32_t status) {
  Device &device = getDevice();
  if (context.measured && status == ADRT_OK)
    status = context.finish(device.stopClock(*context.measured), nullptr);
  // The host also gets what a failed run sent before the failure.
  int32_t delivered = transfers.deliver(Transfers::Wait::Yes);
  status = status == ADRT_OK ? delivered : status;
  for (const auto &[number, read] : reads)
    if (status == ADRT_OK)
      status = context.finish(device.read(read.host, read.device, read.bytes), nullptr);
  // Also after an error: the next run reuses the memory that enqueued work accesses.
  int32_t waited = context.finish(device.synchronize(), nullptr);
  device.interrupted = nullptr;
  status = status == ADRT_OK ? waited : status;
  replacedResults.clear();
  if (status != ADRT_OK)
    keptResults.clear();
  return status;
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
  void *data = require(memory.result(index, bytes), bytes, "a result");
  readAtEnd(index, data, hostMemory, bytes);
  return data;
}

void DeviceContext::readAtEnd(int32_t index, void *data, void *hostMemory, int64_t bytes) {
  reads[index] = {data, hostMemory, bytes};
}

void *DeviceContext::allocateKeptResult(int32_t index, int64_t bytes) {
  if (!context.heap)
    return require(memory.result(index, bytes), bytes, "a result");
  Outcome outcome;
  std::shared_ptr<DeviceBlock> block =
      context.heap->allocate(bytes, "a result", outcome, {context.heapUser, index});
  if (context.finish(outcome, nullptr) != ADRT_OK)
    return nullptr;
  std::swap(keptResults[index], block);
  replacedResults.push_back(std::move(block));
  return require(keptResults[index]->getData(), bytes, "a result");
}

std::shared_ptr<DeviceBlock> DeviceContext::takeResult(int32_t index) {
  auto found = keptResults.find(index);
  return found == keptResults.end() ? nullptr : std::move(found->second);
}

void *DeviceContext::argumentOnDevice(const adrt_tensor &argument, int32_t index) {
  if (argument.memory != ADRT_DEVICE_MEMORY)
    return copyArgument(argument, index);
  constexpr uintptr_t alignment = 64;
  Outcome outcome =
      getDevice().requireMemory(argument.data, byteSize(argument.type, argument.rank, argument.shape));
  if (outcome.ok() && reinterpret_cast<uintptr_t>(argument.data) % alignment != 0)
    outcome = {ADRT_HOST_ERROR, "it does not begin at a multiple of 64 bytes"};
  if (outcome.ok())
    return argument.data;
  outcome.message = "argument " + std::to_string(index) + " in device memory: " + outcome.message;
  context.finish(outcome, nullptr);
  return nullptr;
}

void *DeviceContext::copyArgument(const adrt_tensor &argument, int32_t index) {
  int64_t bytes = byteSize(argument.type, argument.rank, argument.shape);
  void *copy = require(memory.argument(index, bytes), bytes, "an argument");
  return copy && context.finish(getDevice().write(copy, argument.data, bytes), nullptr) == ADRT_OK ? copy
                                                                                                   : nullptr;
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
