/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The compute stream executes its work immediately. Copies between host and device execute as late as their
   events allow: a program that reads a result too early, or reuses memory too early, reads the old bytes.
   Every block of device memory is a separate allocation of the host. Only launches and the functions of the
   device access it; an access of a kernel or a copy outside of a block is an error of the program. */
#include "adjoint/Runtime/Sim/SimDevice.h"
#include "../Host/TiledTensor.h"
#include "../Replay/CommandList.h"
#include "SimBlocks.h"
#include "adjoint/Support/MemoryLimit.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>

using namespace adrt;

namespace {

constexpr int64_t alignment = 256;

int64_t sizeOfBlock(int64_t bytes) {
  return std::max<int64_t>(alignment, (bytes + alignment - 1) / alignment * alignment);
}

/// A stream of copies in one direction.
struct CopyStream {
  std::deque<std::function<Outcome()>> enqueued; // not executed yet
  uint64_t executed = 0;

  /// Executes copies until `count` copies since the beginning are done.
  Outcome advance(uint64_t count);
  uint64_t end() const { return executed + enqueued.size(); }
};

/// The number of copies of a stream before the event; `stream` is null for the compute stream.
struct SimEvent final : Event {
  CopyStream *stream = nullptr;
  uint64_t copies = 0;
};

class SimStreams final : public Streams {
public:
  explicit SimStreams(Device &device) : device(device) {}
  ~SimStreams() override {
    for (void *memory : hostBlocks)
      std::free(memory);
  }

  Outcome copyToDevice(void *target, const void *source, int64_t bytes) override;
  Outcome copyToHost(void *target, const void *source, int64_t bytes) override;
  void *allocateHost(int64_t bytes) override;
  void releaseHost(void *memory) override;
  std::unique_ptr<Event> makeEvent(Outcome &) override { return std::make_unique<SimEvent>(); }
  Outcome record(Event &event, StreamKind stream) override;
  Outcome waitFor(StreamKind stream, Event &event) override;
  Outcome wait(Event &event) override;
  bool isComplete(Event &event) override;
  Outcome synchronize();

private:
  Device &device;
  std::set<void *> hostBlocks;
  CopyStream toDevice, toHost;
};

/// Has a copy of the commands, so that a graph that differs from the commands of the program gives other
/// results.
struct SimGraph final : Graph {
  CommandList commands;
};

class SimGraphs final : public Graphs {
public:
  explicit SimGraphs(Device &device) : device(device) {}

  std::unique_ptr<Graph> instantiate(const CommandList &commands, Outcome &outcome) override;
  Outcome update(Graph &graph, const CommandList &commands, size_t index) override;
  Outcome launch(Graph &graph, const CommandList &commands) override;

private:
  Device &device;
};

class SimDevice final : public Device {
public:
  /// `isShared`: other devices access the memory, too.
  SimDevice(std::vector<const adsim::KernelCode *> kernels, const Emulation &emulation,
            std::vector<KernelTraffic> *traffic, bool isShared = false)
      : kernels(std::move(kernels)), emulation(emulation), traffic(traffic), isShared(isShared) {
    if (traffic)
      for (size_t number = traffic->size(); number < this->kernels.size(); ++number)
        traffic->push_back({this->kernels[number]->name, this->kernels[number]->kind, 0, {}});
  }
  ~SimDevice() override {
    for (const auto &[memory, bytes] : blocks) {
      if (isShared)
        sharedBlocks().remove(memory);
      giveMemory(sizeOfBlock(bytes));
      std::free(memory);
    }
  }

  void *allocate(int64_t bytes) override;
  /// Its memory is that of the host.
  MemoryCount countMemory() const override { return countTensorMemory(); }
  void release(void *memory) override;
  Outcome requireMemory(const void *memory, int64_t bytes) override;
  Outcome write(void *target, const void *source, int64_t bytes) override;
  Outcome read(void *target, const void *source, int64_t bytes) override;
  Outcome copy(void *target, const void *source, int64_t bytes) override;
  Outcome fill(void *target, uint8_t value, int64_t bytes) override;
  Outcome describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) override;
  const char *kernelName(int32_t kernel) const override {
    return kernel >= 0 && static_cast<size_t>(kernel) < kernels.size() ? kernels[kernel]->name : "";
  }
  Outcome launch(const Launch &launch) override;
  int32_t smCount() const override { return static_cast<int32_t>(emulation.smCount); }
  Outcome synchronize() override { return streams.synchronize(); }
  Streams &getStreams() override { return streams; }
  Graphs *getGraphs() override { return &graphs; }

private:
  Outcome check(const void *memory, int64_t bytes) const;

  std::vector<const adsim::KernelCode *> kernels;
  const Emulation emulation;
  uint64_t launches = 0;
  std::vector<KernelTraffic> *traffic; // null when traffic is not counted
  const bool isShared;
  Blocks blocks;
  SimStreams streams{*this};
  SimGraphs graphs{*this};
};

} // namespace

void *SimDevice::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - alignment)
    return nullptr;
  int64_t rounded = sizeOfBlock(bytes);
  if (!takeMemory(rounded))
    return nullptr;
  void *memory = std::aligned_alloc(alignment, static_cast<size_t>(rounded));
  if (!memory) {
    giveMemory(rounded);
    return nullptr;
  }
  std::memset(memory, 0xff, static_cast<size_t>(rounded));
  blocks[memory] = bytes;
  if (isShared)
    sharedBlocks().add(memory, bytes);
  return memory;
}

void SimDevice::release(void *memory) {
  synchronize();
  auto block = blocks.find(memory);
  if (block == blocks.end())
    return;
  if (isShared)
    sharedBlocks().remove(memory);
  giveMemory(sizeOfBlock(block->second));
  std::free(memory);
  blocks.erase(block);
}

Outcome SimDevice::check(const void *memory, int64_t bytes) const {
  if (bytes == 0 || contains(blocks, memory, bytes) || sharedBlocks().has(memory, bytes))
    return {};
  return Outcome::failed("internal error: a copy of " + std::to_string(bytes) +
                         " bytes leaves the memory of the emulated GPU");
}

Outcome SimDevice::requireMemory(const void *memory, int64_t bytes) {
  if (check(memory, bytes).ok())
    return {};
  return {ADRT_HOST_ERROR, "it is not in the memory of the emulated GPU"};
}

Outcome SimDevice::write(void *target, const void *source, int64_t bytes) {
  Outcome outcome = check(target, bytes);
  if (outcome.ok() && bytes > 0) {
    countCopyToDevice();
    std::memcpy(target, source, static_cast<size_t>(bytes));
  }
  return outcome;
}

Outcome SimDevice::read(void *target, const void *source, int64_t bytes) {
  Outcome outcome = check(source, bytes);
  if (outcome.ok() && bytes > 0) {
    countCopyToHost();
    std::memcpy(target, source, static_cast<size_t>(bytes));
  }
  return outcome;
}

Outcome SimDevice::copy(void *target, const void *source, int64_t bytes) {
  Outcome outcome = check(target, bytes);
  if (outcome.ok())
    outcome = check(source, bytes);
  if (outcome.ok() && bytes > 0)
    std::memmove(target, source, static_cast<size_t>(bytes));
  return outcome;
}

Outcome SimStreams::copyToDevice(void *target, const void *source, int64_t bytes) {
  toDevice.enqueued.push_back([=] { return device.write(target, source, bytes); });
  return {};
}

Outcome SimStreams::copyToHost(void *target, const void *source, int64_t bytes) {
  toHost.enqueued.push_back([=] { return device.read(target, source, bytes); });
  return {};
}

Outcome CopyStream::advance(uint64_t count) {
  while (executed < count) {
    Outcome outcome = enqueued.front()();
    enqueued.pop_front();
    ++executed;
    if (!outcome.ok())
      return outcome;
  }
  return {};
}

Outcome SimStreams::record(Event &event, StreamKind kind) {
  auto &recorded = static_cast<SimEvent &>(event);
  recorded.stream = kind == StreamKind::HostToDevice   ? &toDevice
                    : kind == StreamKind::DeviceToHost ? &toHost
                                                       : nullptr;
  recorded.copies = recorded.stream ? recorded.stream->end() : 0;
  return {};
}

Outcome SimStreams::waitFor(StreamKind kind, Event &event) {
  // The compute stream has executed all of its work, so copies never wait.
  return kind == StreamKind::Compute ? wait(event) : Outcome();
}

Outcome SimStreams::wait(Event &event) {
  auto &recorded = static_cast<SimEvent &>(event);
  return recorded.stream ? recorded.stream->advance(recorded.copies) : Outcome();
}

bool SimStreams::isComplete(Event &event) {
  auto &recorded = static_cast<SimEvent &>(event);
  return !recorded.stream || recorded.copies <= recorded.stream->executed;
}

Outcome SimStreams::synchronize() {
  Outcome written = toDevice.advance(toDevice.end()), read = toHost.advance(toHost.end());
  return written.ok() ? read : written;
}

void *SimStreams::allocateHost(int64_t bytes) {
  void *memory = bytes < 0 ? nullptr : std::malloc(static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  if (memory) {
    std::memset(memory, 0xff, static_cast<size_t>(bytes));
    hostBlocks.insert(memory);
  }
  return memory;
}

void SimStreams::releaseHost(void *memory) {
  synchronize();
  if (hostBlocks.erase(memory))
    std::free(memory);
}

Outcome SimDevice::fill(void *target, uint8_t value, int64_t bytes) {
  Outcome outcome = check(target, bytes);
  if (outcome.ok() && bytes > 0)
    std::memset(target, value, static_cast<size_t>(bytes));
  return outcome;
}

Outcome SimDevice::describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) {
  static_assert(ADRT_TENSOR_MAP_BYTES == adsim::tensorMapBytes, "the emulator's tensor maps have this size");
  if (!TiledTensor::canDescribe(tensor))
    return Outcome::failed("internal error: a tensor map of " + std::to_string(tensor.rank) + " axes");
  TiledTensor tiled(tensor, tiles.box);
  adsim::TensorMapSpec spec;
  spec.base = tensor.data;
  spec.elementBytes = static_cast<uint32_t>(elementSize(tensor.type));
  spec.rank = tiled.rank;
  std::copy_n(tiled.sizes, tiled.rank, spec.sizes);
  std::copy_n(tiled.strides, tiled.rank, spec.strides);
  std::copy_n(tiled.box, tiled.rank, spec.box);
  spec.swizzleBytes = tiles.swizzleBytes;
  spec.tf32 = tiles.tf32;
  std::string problem = adsim::encodeTensorMap(map, spec);
  return problem.empty() ? Outcome() : Outcome::failed("internal error: no tensor map: " + problem);
}

static void addTraffic(KernelTraffic &kernel, const adsim::Statistics &statistics) {
  ++kernel.launches;
  for (const adsim::SiteTraffic &site : statistics.traffic) {
    auto isSame = [&](const AccessTraffic &known) {
      return known.operation == site.site.operation && known.shared == site.shared;
    };
    auto known = std::find_if(kernel.accesses.begin(), kernel.accesses.end(), isSame);
    if (known == kernel.accesses.end())
      known = kernel.accesses.insert(known, {site.site.operation, site.shared, 0, 0, 0});
    known->requests += site.requests;
    known->units += site.units;
    known->minUnits += site.idealUnits;
  }
}

std::unique_ptr<Graph> SimGraphs::instantiate(const CommandList &commands, Outcome &) {
  auto graph = std::make_unique<SimGraph>();
  graph->commands = commands;
  return graph;
}

Outcome SimGraphs::update(Graph &graph, const CommandList &commands, size_t index) {
  static_cast<SimGraph &>(graph).commands.updateAt(index, commands);
  return {};
}

Outcome SimGraphs::launch(Graph &graph, const CommandList &requested) {
  CommandList &commands = static_cast<SimGraph &>(graph).commands;
  commands.takeSites(requested);
  for (size_t index = 0; index < commands.size(); ++index)
    if (Outcome outcome = commands.issue(device, index); !outcome.ok())
      return outcome;
  return {};
}

/// The step of splitmix64: adjacent seeds would otherwise draw the same numbers.
static uint64_t mix(uint64_t word) {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

Outcome SimDevice::launch(const Launch &requested) {
  if (requested.kernel < 0 || static_cast<size_t>(requested.kernel) >= kernels.size())
    return Outcome::failed("internal error: the program launches kernel " + std::to_string(requested.kernel) +
                           " of " + std::to_string(kernels.size()));
  const adsim::KernelCode &code = *kernels[requested.kernel];
  if (static_cast<uint32_t>(requested.count) != code.argumentCount)
    return Outcome::failed("internal error: kernel '" + std::string(code.name) + "' takes " +
                           std::to_string(code.argumentCount) + " arguments, but gets " +
                           std::to_string(requested.count));
  const adrt_grid &grid = requested.grid;
  adsim::Launch launch;
  launch.grid = {grid.blocks[0], grid.blocks[1], grid.blocks[2]};
  launch.block = {grid.threads[0], grid.threads[1], grid.threads[2]};
  launch.cluster = {grid.cluster[0], grid.cluster[1], grid.cluster[2]};
  launch.dynamicSharedBytes = grid.shared_bytes;
  launch.schedule = emulation.schedule;
  launch.seed = mix(mix(emulation.seed) + launches++);
  launch.detectRaces = emulation.detectRaces;
  launch.hostThreads = emulation.hostThreads;
  launch.interrupted = interrupted;
  Blocks accessible = sharedBlocks().get();
  accessible.insert(blocks.begin(), blocks.end());
  for (const auto &[memory, bytes] : accessible)
    launch.memory.push_back({memory, static_cast<uint64_t>(bytes), true});
  launch.countTraffic = traffic != nullptr;
  adsim::Statistics statistics;
  adsim::Result result = adsim::launch(code, const_cast<void **>(requested.arguments), launch, &statistics);
  if (traffic)
    addTraffic((*traffic)[static_cast<size_t>(requested.kernel)], statistics);
  if (result.ok())
    return {};
  if (result.failure == adsim::Failure::Interrupted)
    return {ADRT_INTERRUPTED, "interrupted", ""};
  if (result.failure == adsim::Failure::LackOfMemory)
    return Outcome::failed(result.message);
  return {ADRT_PROGRAM_ERROR, result.message, result.location};
}

std::unique_ptr<Device> adrt::makeSimDevice(std::vector<const adsim::KernelCode *> kernels,
                                            const Emulation &emulation, std::vector<KernelTraffic> *traffic) {
  return std::make_unique<SimDevice>(std::move(kernels), emulation, traffic);
}

std::unique_ptr<Device> adrt::makeSharedSimMemory() {
  return std::make_unique<SimDevice>(std::vector<const adsim::KernelCode *>(), Emulation(), nullptr,
                                     /*isShared=*/true);
}
