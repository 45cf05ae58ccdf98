/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "Transfers.h"

#include <initializer_list>

using namespace adrt;

namespace {

constexpr int64_t alignment = 256;

int64_t bytesOf(const adrt_tensor &tensor) { return byteSize(tensor.type, tensor.rank, tensor.shape); }

int64_t align(int64_t offset) { return (offset + alignment - 1) / alignment * alignment; }

/// Runs the steps in order until one fails.
Outcome inOrder(std::initializer_list<std::function<Outcome()>> steps) {
  for (const auto &step : steps)
    if (Outcome outcome = step(); !outcome.ok())
      return outcome;
  return {};
}

} // namespace

//===- Slots --------------------------------------------------------------===//

void Transfers::Slot::release() {
  if (onDevice)
    device.release(onDevice);
  if (onHost)
    device.getStreams().releaseHost(onHost);
  onDevice = onHost = nullptr;
  capacity = 0;
}

Outcome Transfers::Slot::reserve(int64_t bytes) {
  Outcome outcome;
  for (std::unique_ptr<Event> *event : {&computed, &transferred})
    if (!*event && outcome.ok())
      *event = device.getStreams().makeEvent(outcome);
  if (!outcome.ok() || (onDevice && bytes <= capacity))
    return outcome;
  release();
  std::string purpose = std::to_string(bytes) + " bytes of copies between host and device";
  onDevice = device.allocate(bytes);
  if (!onDevice)
    return device.explainFailure(purpose);
  onHost = device.getStreams().allocateHost(bytes);
  if (!onHost)
    return device.getStreams().explainHostFailure(purpose);
  capacity = bytes;
  return {};
}

Transfers::Slot &Transfers::nextSlot(DoubleBuffer &buffer) {
  std::unique_ptr<Slot> &slot = buffer.slots[buffer.uses++ % 2];
  if (!slot)
    slot = std::make_unique<Slot>(device);
  return *slot;
}

//===- Feeds --------------------------------------------------------------===//

int32_t Transfers::feed(const adrt_site *site, const char *name, const adrt_tensor &destination) {
  if (!context.feedsAhead)
    if (int32_t status = deliver(Wait::Yes); status != ADRT_OK)
      return status;
  int64_t bytes = bytesOf(destination);
  Slot &slot = nextSlot(feeds[name]);
  // The slot's previous value must be on the device before the host overwrites it.
  Outcome free = slot.transferred ? streams.wait(*slot.transferred) : Outcome();
  if (free.ok())
    free = slot.reserve(bytes);
  if (!free.ok())
    return context.finish(free, site);
  adrt_tensor view = destination;
  view.data = slot.onHost;
  view.memory = ADRT_HOST_MEMORY;
  std::string message;
  if (int32_t status = context.callFeed(name, view, message); status != ADRT_OK)
    return context.fail(status, site, "feed '" + std::string(name) + "': " + message);
  return context.finish(inOrder({[&] { return streams.waitFor(StreamKind::HostToDevice, *slot.computed); },
                                 [&] { return streams.copyToDevice(slot.onDevice, slot.onHost, bytes); },
                                 [&] { return streams.record(*slot.transferred, StreamKind::HostToDevice); },
                                 [&] { return streams.waitFor(StreamKind::Compute, *slot.transferred); },
                                 [&] { return device.copy(destination.data, slot.onDevice, bytes); },
                                 [&] { return streams.record(*slot.computed, StreamKind::Compute); }}),
                        site);
}

//===- Received values ----------------------------------------------------===//

int32_t Transfers::receive(const adrt_site *site, const char *name, const adrt_tensor *values,
                           int32_t count) {
  Slot &slot = nextSlot(receives[name]);
  while (slot.pending)
    if (int32_t status = handOver(*pending.front()); status != ADRT_OK)
      return status;
  slot.site = site;
  slot.name = name;
  if (int32_t status = context.finish(enqueueCopies(slot, values, count), site); status != ADRT_OK)
    return status;
  slot.pending = true;
  pending.push_back(&slot);
  return ADRT_OK;
}

Outcome Transfers::enqueueCopies(Slot &slot, const adrt_tensor *values, int32_t count) {
  int64_t total = 0;
  for (int32_t index = 0; index < count; ++index)
    total = align(total) + bytesOf(values[index]);
  if (Outcome outcome = slot.reserve(total); !outcome.ok())
    return outcome;
  slot.shapes.clear();
  slot.values.clear();
  int64_t offset = 0;
  for (int32_t index = 0; index < count; ++index) {
    const adrt_tensor &value = values[index];
    offset = align(offset);
    if (Outcome outcome =
            device.copy(static_cast<char *>(slot.onDevice) + offset, value.data, bytesOf(value));
        !outcome.ok())
      return outcome;
    const std::vector<int64_t> &shape = slot.shapes.emplace_back(value.shape, value.shape + value.rank);
    slot.values.push_back(
        {static_cast<char *>(slot.onHost) + offset, shape.data(), value.rank, value.type, ADRT_HOST_MEMORY});
    offset += bytesOf(value);
  }
  return inOrder({[&] { return streams.record(*slot.computed, StreamKind::Compute); },
                  [&] { return streams.waitFor(StreamKind::DeviceToHost, *slot.computed); },
                  [&] { return streams.copyToHost(slot.onHost, slot.onDevice, total); },
                  [&] { return streams.record(*slot.transferred, StreamKind::DeviceToHost); }});
}

/// Passes the oldest pending value to the host.
int32_t Transfers::handOver(Slot &slot) {
  std::string message;
  int32_t status = context.finish(streams.wait(*slot.transferred), slot.site);
  if (status == ADRT_OK) {
    status =
        context.callReceive(slot.name, slot.values.data(), static_cast<int32_t>(slot.values.size()), message);
    if (status != ADRT_OK)
      context.fail(status, slot.site, "receive '" + std::string(slot.name) + "': " + message);
  }
  slot.pending = false;
  pending.pop_front();
  if (status == ADRT_OK)
    return status;
  // After an error the host receives no later value.
  for (Slot *later : pending)
    later->pending = false;
  pending.clear();
  return status;
}

int32_t Transfers::deliver(Wait wait) {
  while (!pending.empty()) {
    if (wait == Wait::No && !streams.isComplete(*pending.front()->transferred))
      return ADRT_OK;
    if (int32_t status = handOver(*pending.front()); status != ADRT_OK)
      return status;
  }
  return ADRT_OK;
}
