/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What programs for a device ask of the runtime, and what the other services do for them. */
#include "DeviceMemory.h"
#include "HostCopy.h"
#include "Transfers.h"
#include "adjoint/Runtime/Host/Context.h"

#include <algorithm>

using namespace adrt;

//===- Context ------------------------------------------------------------===//

void adrt_context::setDevice(std::shared_ptr<Device> device) {
  if (deviceMemory && deviceMemory->isOf(device))
    return;
  transfers.reset();
  Device *next = device.get();
  deviceMemory = device ? std::make_unique<DeviceMemory>(std::move(device)) : nullptr;
  transfers = next ? std::make_unique<Transfers>(*this, *next) : nullptr;
}

Device *adrt_context::getDevice() const { return deviceMemory ? &deviceMemory->getDevice() : nullptr; }

int32_t adrt_context::beginDeviceRun() {
  deviceMemory->beginRun();
  deviceMemory->getDevice().interrupted = interrupted;
  writtenResults.clear();
  return measurement ? finish(deviceMemory->getDevice().startClock(), nullptr) : ADRT_OK;
}

int32_t adrt_context::endDeviceRun(int32_t status) {
  Device &device = deviceMemory->getDevice();
  if (measurement && status == ADRT_OK)
    status = finish(device.stopClock(measurement->seconds), nullptr);
  if (measurement)
    writtenResults.clear();
  // Also of a run that failed: what it sent before is the host's.
  int32_t delivered = transfers->deliver(Transfers::Wait::Yes);
  status = status == ADRT_OK ? delivered : status;
  for (const auto &[number, data] : writtenResults)
    if (status == ADRT_OK)
      status = finish(device.read(data.first, deviceMemory->resultData(number), data.second), nullptr);
  // Whatever happened, nothing runs on in memory that is used again.
  int32_t waited = finish(device.synchronize(), nullptr);
  device.interrupted = nullptr;
  return status == ADRT_OK ? waited : status;
}

int32_t adrt_context::finish(const Outcome &outcome, const adrt_site *site) {
  if (outcome.ok())
    return ADRT_OK;
  if (outcome.site)
    site = outcome.site;
  else if (!site)
    site = outcome.lastLaunch;
  adrt_site precise = {outcome.location.c_str(), site ? site->operation : ""};
  return fail(outcome.status, outcome.location.empty() ? site : &precise, outcome.message);
}

void *adrt_context::requireMemory(void *memory, int64_t bytes, const char *purpose) {
  arenaPeak = std::max(arenaPeak, deviceMemory->getBytes());
  if (!memory) {
    fail(ADRT_TARGET_ERROR, nullptr,
         "the device has not enough memory for " + std::string(purpose) + " of " +
             (bytes < 0 || bytes == INT64_MAX ? "unrepresentable size" : std::to_string(bytes) + " bytes"));
    return nullptr;
  }
  if (poisonMemory && finish(deviceMemory->getDevice().fill(memory, 0xff, bytes), nullptr) != ADRT_OK)
    return nullptr;
  return memory;
}

bool adrt_context::requireDevice() {
  if (deviceMemory)
    return true;
  fail(ADRT_TARGET_ERROR, nullptr, "the program was compiled for a device, and there is none");
  return false;
}

void *adrt_context::placeArgument(const adrt_tensor &argument, int32_t index) {
  int64_t bytes = byteSize(argument.type, argument.rank, argument.shape);
  if (!requireDevice())
    return nullptr;
  void *memory = requireMemory(deviceMemory->argument(index, bytes), bytes, "an argument");
  if (!memory)
    return nullptr;
  bool stays = measurement && static_cast<size_t>(index) < measurement->overwritten.size() &&
               !measurement->overwritten[static_cast<size_t>(index)];
  if (stays && !deviceMemory->isFirstUse(index))
    return memory;
  return finish(getDevice()->write(memory, argument.data, bytes), nullptr) == ADRT_OK ? memory : nullptr;
}

void *adrt_context::placeConstant(const void *data, int64_t bytes) {
  if (!requireDevice())
    return nullptr;
  bool known = false;
  void *memory = deviceMemory->constant(data, bytes, known);
  if (known)
    return memory;
  memory = requireMemory(memory, bytes, "a constant");
  return memory && finish(getDevice()->write(memory, data, bytes), nullptr) == ADRT_OK ? memory : nullptr;
}

int32_t adrt_context::launch(const Launch &launch) {
  // No poll, which would end what is replayed as one.
  if (int32_t status = checkInterrupt(); status != ADRT_OK)
    return status;
  Device &device = *getDevice();
  if (!watchdog)
    return finish(device.launch(launch), launch.site);
  // Nothing is left to be handed over when the process ends.
  if (int32_t status = transfers->deliver(Transfers::Wait::Yes); status != ADRT_OK)
    return status;
  watchdog->begin(device.kernelName(launch.kernel), launch.site);
  Outcome outcome = device.launch(launch);
  if (outcome.ok())
    outcome = device.synchronize();
  watchdog->end();
  return finish(outcome, launch.site);
}

int32_t adrt_context::describe(const adrt_site *site, void *map, const adrt_tensor &tensor,
                               const Tiles &tiles) {
  TensorMaps &maps = deviceMemory->getMaps();
  TensorMaps::Key key = TensorMaps::keyOf(tensor, tiles);
  if (maps.find(key, map))
    return ADRT_OK;
  Outcome outcome = getDevice()->describe(map, tensor, tiles);
  if (outcome.ok())
    maps.add(std::move(key), map);
  return finish(outcome, site);
}

//===- Copies for checks --------------------------------------------------===//

int32_t HostCopy::open() {
  Device *device = context.getDevice();
  if (!device)
    return ADRT_OK;
  visible.data = memory.reserve(bytes());
  if (!visible.data)
    return context.fail(ADRT_TARGET_ERROR, site, "not enough memory for a copy of a tensor");
  return context.finish(device->read(visible.data, original.data, bytes()), site);
}

//===- Services -----------------------------------------------------------===//

void *adrt_argument(adrt_context *context, const adrt_tensor *argument, int32_t index) {
  return context->placeArgument(*argument, index);
}

void *adrt_constant(adrt_context *context, const void *data, int64_t bytes) {
  return context->placeConstant(data, bytes);
}

int32_t adrt_copy(adrt_context *context, void *target, const void *source, int64_t bytes) {
  if (!context->requireDevice())
    return context->getError().status;
  return context->finish(context->getDevice()->copy(target, source, bytes), nullptr);
}

int32_t adrt_read(adrt_context *context, void *target, const void *source, int64_t bytes) {
  if (!context->requireDevice())
    return context->getError().status;
  return context->finish(context->getDevice()->read(target, source, bytes), nullptr);
}

int32_t adrt_tensor_map(adrt_context *context, const adrt_site *site, void *map, const adrt_tensor *tensor,
                        const uint32_t *box, int32_t swizzleBytes, int32_t tf32) {
  if (!context->requireDevice())
    return context->getError().status;
  return context->describe(site, map, *tensor, {box, static_cast<uint32_t>(swizzleBytes), tf32 != 0});
}

int32_t adrt_launch(adrt_context *context, const adrt_site *site, int32_t kernel, const adrt_grid *grid,
                    void *const *arguments, const int32_t *bytes, int32_t count) {
  if (!context->requireDevice())
    return context->getError().status;
  return context->launch({site, kernel, *grid, arguments, bytes, count});
}

int32_t adrt_sm_count(adrt_context *context) {
  Device *device = context->getDevice();
  return device ? device->smCount() : 1;
}
