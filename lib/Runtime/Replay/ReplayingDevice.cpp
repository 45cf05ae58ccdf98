/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Puts off launches and copies until something needs them or a turn of a loop ends, and then looks whether
   the same was asked for before. What is asked for is what the program asks for, whichever way it takes: a
   graph is used only when kernels, grids, arguments and copies agree to the last byte, or have been made to.
   No knowledge of loops is needed, and a program that is called again and again is replayed like a loop. */
#include "adjoint/Runtime/Replay/ReplayingDevice.h"
#include "CommandList.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

using namespace adrt;

namespace {

/// A single command is asked for as it is.
constexpr size_t leastReplayed = 2;
/// So that the device does not wait for long stretches of the program to be put together.
constexpr size_t mostPending = 1024;
/// Graphs take memory of the device; sizes that change from turn to turn would make ever more.
constexpr size_t mostShapes = 64;

/// What was asked for before, ready to be asked for again.
struct Recording {
  CommandList commands;
  std::unique_ptr<Graph> graph;
  uint64_t used = 0; // when
};

/// All of one shape. Two, for places that alternate; what differs otherwise is changed.
struct Recordings {
  Recording each[2];
  uint64_t used = 0;
};

class ReplayingDevice final : public Device {
public:
  ReplayingDevice(std::unique_ptr<Device> device, ReplayWarning warn)
      : device(std::move(device)), warn(std::move(warn)) {
    program = this->device->program;
    this->device->interrupted = [this] { return interrupted && interrupted(); };
  }

  Outcome launch(const Launch &launch) override {
    pending.add(launch);
    return pending.size() < mostPending ? Outcome() : submit();
  }
  Outcome copy(void *target, const void *source, int64_t bytes) override {
    if (bytes > 0)
      pending.add(Copy{target, source, bytes});
    return pending.size() < mostPending ? Outcome() : submit();
  }
  Outcome submit() override;
  ReplayCounts getReplays() const override { return counts; }

  // What the pending commands must come before.
  void release(void *memory) override {
    if (Outcome outcome = submit(); !outcome.ok())
      late = outcome;
    device->release(memory);
  }
  Outcome write(void *target, const void *source, int64_t bytes) override {
    return behind([&] { return device->write(target, source, bytes); });
  }
  Outcome read(void *target, const void *source, int64_t bytes) override {
    return behind([&] { return device->read(target, source, bytes); });
  }
  Outcome fill(void *target, uint8_t value, int64_t bytes) override {
    return behind([&] { return device->fill(target, value, bytes); });
  }
  Outcome record(Event &event, Lane lane) override {
    return behind([&] { return device->record(event, lane); });
  }
  Outcome order(Lane lane, Event &event) override {
    return behind([&] { return device->order(lane, event); });
  }
  Outcome startClock() override {
    return behind([&] { return device->startClock(); });
  }
  Outcome stopClock(double &seconds) override {
    return behind([&] { return device->stopClock(seconds); });
  }
  const char *clockName() const override { return device->clockName(); }
  Outcome synchronize() override {
    Outcome submitted = submit(), waited = device->synchronize();
    return submitted.ok() ? waited : submitted;
  }

  // What has nothing to do with them: other lanes are behind events, if at all.
  void *allocate(int64_t bytes) override { return device->allocate(bytes); }
  void *allocateHost(int64_t bytes) override { return device->allocateHost(bytes); }
  void releaseHost(void *memory) override { device->releaseHost(memory); }
  Outcome bring(void *target, const void *source, int64_t bytes) override {
    return device->bring(target, source, bytes);
  }
  Outcome fetch(void *target, const void *source, int64_t bytes) override {
    return device->fetch(target, source, bytes);
  }
  std::unique_ptr<Event> makeEvent(Outcome &outcome) override { return device->makeEvent(outcome); }
  Outcome wait(Event &event) override { return device->wait(event); }
  bool reached(Event &event) override { return device->reached(event); }
  Outcome describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) override {
    return device->describe(map, tensor, tiles);
  }
  const char *kernelName(int32_t kernel) const override { return device->kernelName(kernel); }
  int32_t processors() const override { return device->processors(); }

private:
  template <class Request> Outcome behind(Request request) {
    Outcome submitted = submit();
    return submitted.ok() ? request() : submitted;
  }
  Outcome issue();
  /// The recording that has become the pending commands; null when there is none.
  Recording *prepare();
  Outcome make(Recording &recording);
  Outcome bringUpToDate(Recording &recording);
  bool isPending(const Recording &recording) const;
  void makeRoom();

  std::unique_ptr<Device> device;
  ReplayWarning warn;
  CommandList pending;
  Outcome late; // of commands whose end nobody could be told
  std::unordered_map<uint64_t, Recordings> shapes;
  uint64_t clock = 0;
  bool givenUp = false; // the device could not make a graph
  ReplayCounts counts;
};

} // namespace

Outcome ReplayingDevice::submit() {
  if (!late.ok()) {
    pending.clear();
    return std::exchange(late, Outcome());
  }
  if (pending.empty())
    return {};
  Recording *recording = pending.size() < leastReplayed || givenUp ? nullptr : prepare();
  Outcome outcome = recording ? device->replay(*recording->graph, pending) : issue();
  counts.replayed += recording != nullptr;
  pending.clear();
  return outcome;
}

/// One command after the other, until one fails.
Outcome ReplayingDevice::issue() {
  for (size_t index = 0; index < pending.size(); ++index)
    if (Outcome outcome = pending.issue(*device, index); !outcome.ok())
      return outcome;
  return {};
}

bool ReplayingDevice::isPending(const Recording &recording) const {
  if (!recording.graph)
    return false;
  for (size_t index = 0; index < pending.size(); ++index)
    if (!recording.commands.isSameAt(index, pending))
      return false;
  return true;
}

// What comes once, such as the work before a loop, is not worth a graph: the first time a shape is only
// noted.
Recording *ReplayingDevice::prepare() {
  auto [place, isNew] = shapes.try_emplace(pending.hashShape());
  Recordings &known = place->second;
  known.used = ++clock;
  if (isNew) {
    makeRoom();
    return nullptr;
  }
  Recording &first = known.each[0], &second = known.each[1];
  if (first.graph && !first.commands.hasShapeOf(pending))
    return nullptr; // two shapes with one hash
  Recording *chosen = isPending(first)            ? &first
                      : isPending(second)         ? &second
                      : first.used <= second.used ? &first
                                                  : &second;
  chosen->used = clock;
  Outcome outcome = chosen->graph ? bringUpToDate(*chosen) : make(*chosen);
  if (chosen->graph && outcome.ok())
    return chosen;
  givenUp = true;
  shapes.clear();
  const Launch *last = pending.lastLaunch();
  if (!outcome.ok() && warn)
    warn(last ? last->site : nullptr, "kernels are launched one by one: " + outcome.message);
  return nullptr;
}

Outcome ReplayingDevice::make(Recording &recording) {
  Outcome outcome;
  recording.graph = device->capture(pending, outcome);
  recording.commands = pending;
  counts.recorded += recording.graph != nullptr;
  return outcome;
}

Outcome ReplayingDevice::bringUpToDate(Recording &recording) {
  for (size_t index = 0; index < pending.size(); ++index) {
    if (recording.commands.isSameAt(index, pending))
      continue;
    if (Outcome outcome = device->change(*recording.graph, pending, index); !outcome.ok())
      return outcome;
    recording.commands.changeAt(index, pending);
    ++counts.changed;
  }
  return {};
}

/// Forgets the shape that was not seen for the longest time.
void ReplayingDevice::makeRoom() {
  if (shapes.size() <= mostShapes)
    return;
  shapes.erase(std::min_element(shapes.begin(), shapes.end(),
                                [](const auto &a, const auto &b) { return a.second.used < b.second.used; }));
}

std::unique_ptr<Device> adrt::makeReplayingDevice(std::unique_ptr<Device> device, ReplayWarning warn) {
  return std::make_unique<ReplayingDevice>(std::move(device), std::move(warn));
}
