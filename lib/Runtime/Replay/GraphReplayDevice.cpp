/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Defers launches and copies until a call needs their results or an iteration of a loop ends. If the same
   commands ran before, they are replayed as a graph. Either way the device executes exactly the commands of
   the program: a graph is launched only when its kernels, grids, arguments and copies agree with the commands
   to the last byte, after an update if needed. The device does not know loops: a program that is called
   repeatedly is replayed like a loop. */
#include "adjoint/Runtime/Replay/GraphReplayDevice.h"
#include "GraphCache.h"

#include <utility>

using namespace adrt;

namespace {

/// The device must not idle while a long sequence of commands is collected.
constexpr size_t maxPending = 1024;

/// Submits the pending commands of the device before an event orders them. Copies between host and device
/// have streams of their own and are forwarded.
class SubmittingStreams final : public Streams {
public:
  SubmittingStreams(Device &owner, Streams &streams) : owner(owner), streams(streams) {}

  Outcome record(Event &event, StreamKind stream) override {
    Outcome submitted = owner.submit();
    return submitted.ok() ? streams.record(event, stream) : submitted;
  }
  Outcome waitFor(StreamKind stream, Event &event) override {
    Outcome submitted = owner.submit();
    return submitted.ok() ? streams.waitFor(stream, event) : submitted;
  }

  Outcome copyToDevice(void *target, const void *source, int64_t bytes) override {
    return streams.copyToDevice(target, source, bytes);
  }
  Outcome copyToHost(void *target, const void *source, int64_t bytes) override {
    return streams.copyToHost(target, source, bytes);
  }
  void *allocateHost(int64_t bytes) override { return streams.allocateHost(bytes); }
  void releaseHost(void *memory) override { streams.releaseHost(memory); }
  Outcome explainHostFailure(const std::string &purpose) const override {
    return streams.explainHostFailure(purpose);
  }
  std::unique_ptr<Event> makeEvent(Outcome &outcome) override { return streams.makeEvent(outcome); }
  Outcome wait(Event &event) override { return streams.wait(event); }
  bool isComplete(Event &event) override { return streams.isComplete(event); }

private:
  Device &owner;
  Streams &streams;
};

class GraphReplayDevice final : public Device {
public:
  GraphReplayDevice(std::unique_ptr<Device> underlying, ReplayWarning warn)
      : device(std::move(underlying)), streams(*this, device->getStreams()),
        cache(device->getGraphs(), std::move(warn)) {
    program = device->program;
    device->interrupted = [this] { return interrupted && interrupted(); };
  }

  Outcome launch(const Launch &launch) override {
    pending.add(launch);
    return pending.size() < maxPending ? Outcome() : submit();
  }
  Outcome copy(void *target, const void *source, int64_t bytes) override {
    if (bytes > 0)
      pending.add(Copy{target, source, bytes});
    return pending.size() < maxPending ? Outcome() : submit();
  }
  Outcome submit() override;
  GraphCounts getGraphCounts() const override { return cache.getCounts(); }

  // Calls that the device executes after the pending commands.
  void release(void *memory) override {
    if (Outcome outcome = submit(); !outcome.ok())
      deferredError = outcome;
    device->release(memory);
  }
  Outcome write(void *target, const void *source, int64_t bytes) override {
    return afterPending([&] { return device->write(target, source, bytes); });
  }
  Outcome read(void *target, const void *source, int64_t bytes) override {
    return afterPending([&] { return device->read(target, source, bytes); });
  }
  Outcome fill(void *target, uint8_t value, int64_t bytes) override {
    return afterPending([&] { return device->fill(target, value, bytes); });
  }
  Outcome startClock() override {
    return afterPending([&] { return device->startClock(); });
  }
  Outcome stopClock(double &seconds) override {
    return afterPending([&] { return device->stopClock(seconds); });
  }
  Outcome synchronize() override {
    Outcome submitted = submit(), waited = device->synchronize();
    return submitted.ok() ? waited : submitted;
  }
  Streams &getStreams() override { return streams; }

  // Calls that do not depend on the pending commands.
  void *allocate(int64_t bytes) override { return device->allocate(bytes); }
  Outcome requireMemory(const void *memory, int64_t bytes) override {
    return device->requireMemory(memory, bytes);
  }
  Outcome waitForForeignStream(uintptr_t stream) override { return device->waitForForeignStream(stream); }
  Outcome explainFailure(const std::string &purpose) const override {
    return device->explainFailure(purpose);
  }
  MemoryCount countMemory() const override { return device->countMemory(); }
  Outcome describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) override {
    return device->describe(map, tensor, tiles);
  }
  const char *clockName() const override { return device->clockName(); }
  const char *kernelName(int32_t kernel) const override { return device->kernelName(kernel); }
  int32_t smCount() const override { return device->smCount(); }

private:
  template <class Call> Outcome afterPending(Call call) {
    Outcome submitted = submit();
    return submitted.ok() ? call() : submitted;
  }
  Outcome issueOneByOne();

  std::unique_ptr<Device> device;
  SubmittingStreams streams;
  CommandList pending;
  Outcome deferredError; // of commands that `release` submitted, which cannot return it
  GraphCache cache;
};

} // namespace

Outcome GraphReplayDevice::submit() {
  if (!deferredError.ok()) {
    pending.clear();
    return std::exchange(deferredError, Outcome());
  }
  if (pending.empty())
    return {};
  Outcome outcome;
  if (!cache.launch(pending, outcome))
    outcome = issueOneByOne();
  pending.clear();
  return outcome;
}

/// Stops at the first error.
Outcome GraphReplayDevice::issueOneByOne() {
  for (size_t index = 0; index < pending.size(); ++index)
    if (Outcome outcome = pending.issue(*device, index); !outcome.ok())
      return outcome;
  return {};
}

std::unique_ptr<Device> adrt::makeGraphReplayDevice(std::unique_ptr<Device> device, ReplayWarning warn) {
  return std::make_unique<GraphReplayDevice>(std::move(device), std::move(warn));
}
