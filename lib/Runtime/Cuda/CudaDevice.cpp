/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A stream for each lane. The host waits only when it reads. */
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "../Host/TiledTensor.h"
#include "CudaGraph.h"
#include "CudaTensorMap.h"

#include <algorithm>
#include <utility>

using namespace adrt;

namespace {

class CudaEvent final : public Event {
public:
  CudaEvent(const CudaDriver &driver, void *context, void *handle)
      : driver(driver), context(context), handle(handle) {}
  ~CudaEvent() override {
    driver.cuCtxSetCurrent(context);
    driver.cuEventDestroy_v2(handle);
  }
  void *get() const { return handle; }

private:
  const CudaDriver &driver;
  void *context, *handle;
};

class CudaDevice final : public Device {
public:
  explicit CudaDevice(const CudaDriver &driver) : driver(driver) {}
  ~CudaDevice() override;
  std::string open(const std::string &image, const std::vector<std::string> &names);

  void *allocate(int64_t bytes) override;
  void release(void *memory) override;
  Outcome write(void *target, const void *source, int64_t bytes) override;
  Outcome read(void *target, const void *source, int64_t bytes) override;
  Outcome copy(void *target, const void *source, int64_t bytes) override;
  Outcome bring(void *target, const void *source, int64_t bytes) override;
  Outcome fetch(void *target, const void *source, int64_t bytes) override;
  void *allocateHost(int64_t bytes) override;
  void releaseHost(void *memory) override;
  std::unique_ptr<Event> makeEvent(Outcome &outcome) override;
  Outcome record(Event &event, Lane lane) override;
  Outcome order(Lane lane, Event &event) override;
  Outcome wait(Event &event) override;
  bool reached(Event &event) override;
  Outcome fill(void *target, uint8_t value, int64_t bytes) override;
  Outcome describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) override;
  const char *kernelName(int32_t kernel) const override {
    return kernel >= 0 && static_cast<size_t>(kernel) < kernels.size() ? kernels[kernel].name.c_str() : "";
  }
  Outcome launch(const Launch &launch) override;
  int32_t processors() const override { return multiprocessors; }
  Outcome synchronize() override;
  std::unique_ptr<Graph> capture(const CommandList &commands, Outcome &outcome) override;
  Outcome change(Graph &graph, const CommandList &commands, size_t index) override;
  Outcome replay(Graph &graph, const CommandList &commands) override;
  Outcome startClock() override;
  Outcome stopClock(double &seconds) override;
  const char *clockName() const override { return "cuda events"; }

private:
  struct Kernel {
    std::string name;
    void *function = nullptr;
    uint32_t sharedBytes = 0; // dynamic ones that it may use
  };

  static CudaAddress address(const void *memory) { return reinterpret_cast<CudaAddress>(memory); }
  /// Calls come from any thread; the context belongs to one at a time.
  void enter() { driver.cuCtxSetCurrent(context); }
  Outcome finish(const char *call, CudaResult result) const;
  Outcome finish(const CudaAnswer &answer) const { return finish(answer.call, answer.result); }
  /// Makes sure that the kernel can be launched so.
  Outcome prepare(const Launch &launch);
  CudaAnswer add(CudaGraph &graph, const CommandList &commands, size_t index) const;
  /// Puts the clock's start before the command that comes next, if it is to be there.
  Outcome markStart();
  void *streamOf(Lane lane) const { return streams[static_cast<int>(lane)]; }
  static void *handle(Event &event) { return static_cast<CudaEvent &>(event).get(); }

  const CudaDriver &driver;
  CudaDeviceNumber number = 0;
  void *context = nullptr, *module = nullptr;
  void *streams[3] = {}; // by lane
  std::vector<Kernel> kernels;
  // Errors of a kernel show in a later call: the last one that was launched, alone or as the last of several.
  std::string lastKernel;
  const adrt_site *lastSite = nullptr;
  size_t lastTogether = 1;
  std::unique_ptr<CudaEvent> clockStart, clockStop;
  bool clockStarts = false;  // before the next command
  int multiprocessors = 128; // of a large GPU, unless it says; results are the same
};

} // namespace

CudaDevice::~CudaDevice() {
  if (!context)
    return;
  clockStart.reset();
  clockStop.reset();
  enter();
  for (void *each : streams)
    if (each)
      driver.cuStreamDestroy_v2(each);
  if (module)
    driver.cuModuleUnload(module);
  driver.cuDevicePrimaryCtxRelease_v2(number);
}

std::string CudaDevice::open(const std::string &image, const std::vector<std::string> &names) {
  if (CudaResult result = driver.cuDeviceGet(&number, 0))
    return driver.explain("cuDeviceGet", result);
  if (CudaResult result = driver.cuDevicePrimaryCtxRetain(&context, number))
    return driver.explain("cuDevicePrimaryCtxRetain", result);
  enter();
  for (void *&each : streams)
    if (CudaResult result = driver.cuStreamCreate(&each, cudaStreamNonBlocking))
      return driver.explain("cuStreamCreate", result);
  int answer = 0;
  if (driver.cuDeviceGetAttribute(&answer, cudaDeviceMultiprocessors, number) == 0 && answer > 0)
    multiprocessors = answer;
  if (names.empty())
    return "";
  std::string log(4096, '\0');
  int options[] = {cudaJitErrorLog, cudaJitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  if (CudaResult result = driver.cuModuleLoadDataEx(&module, image.c_str(), 2, options, values))
    return driver.explain("cuModuleLoadDataEx", result) + ": " + log.c_str();
  for (const std::string &name : names) {
    Kernel &kernel = kernels.emplace_back();
    kernel.name = name;
    if (CudaResult result = driver.cuModuleGetFunction(&kernel.function, module, name.c_str()))
      return driver.explain("cuModuleGetFunction", result) + " of '" + name + "'";
  }
  return "";
}

Outcome CudaDevice::finish(const char *call, CudaResult result) const {
  if (result == 0)
    return {};
  std::string text = driver.explain(call, result);
  if (!lastKernel.empty())
    text += ", behind kernel '" + lastKernel + "'";
  if (lastTogether > 1)
    text += ", the last of " + std::to_string(lastTogether) + " commands that were asked for as one";
  Outcome outcome = Outcome::failed(std::move(text));
  outcome.behind = lastSite;
  return outcome;
}

void *CudaDevice::allocate(int64_t bytes) {
  if (bytes < 0)
    return nullptr;
  enter();
  CudaAddress memory = 0;
  bool done = driver.cuMemAlloc_v2(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 1))) == 0;
  return done ? reinterpret_cast<void *>(memory) : nullptr;
}

void CudaDevice::release(void *memory) {
  enter();
  driver.cuMemFree_v2(address(memory)); // waits
}

Outcome CudaDevice::write(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  enter();
  // Of memory that is not pinned, the driver has a copy of its own on return.
  return finish("cuMemcpyHtoDAsync",
                driver.cuMemcpyHtoDAsync_v2(address(target), source, static_cast<size_t>(bytes),
                                            streamOf(Lane::Compute)));
}

Outcome CudaDevice::read(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  enter();
  Outcome outcome = finish("cuMemcpyDtoHAsync",
                           driver.cuMemcpyDtoHAsync_v2(target, address(source), static_cast<size_t>(bytes),
                                                       streamOf(Lane::Compute)));
  return outcome.ok() ? finish("cuStreamSynchronize", driver.cuStreamSynchronize(streamOf(Lane::Compute)))
                      : outcome;
}

Outcome CudaDevice::copy(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  enter();
  if (Outcome outcome = markStart(); !outcome.ok())
    return outcome;
  return finish("cuMemcpyDtoDAsync",
                driver.cuMemcpyDtoDAsync_v2(address(target), address(source), static_cast<size_t>(bytes),
                                            streamOf(Lane::Compute)));
}

Outcome CudaDevice::bring(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  enter();
  return finish("cuMemcpyHtoDAsync",
                driver.cuMemcpyHtoDAsync_v2(address(target), source, static_cast<size_t>(bytes),
                                            streamOf(Lane::Bring)));
}

Outcome CudaDevice::fetch(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  enter();
  return finish("cuMemcpyDtoHAsync",
                driver.cuMemcpyDtoHAsync_v2(target, address(source), static_cast<size_t>(bytes),
                                            streamOf(Lane::Fetch)));
}

void *CudaDevice::allocateHost(int64_t bytes) {
  if (bytes < 0)
    return nullptr;
  enter();
  void *memory = nullptr;
  bool done = driver.cuMemHostAlloc(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 1)), 0) == 0;
  return done ? memory : nullptr;
}

void CudaDevice::releaseHost(void *memory) {
  enter();
  driver.cuMemFreeHost(memory); // waits
}

std::unique_ptr<Event> CudaDevice::makeEvent(Outcome &outcome) {
  enter();
  void *made = nullptr;
  outcome = finish("cuEventCreate", driver.cuEventCreate(&made, cudaEventDisableTiming));
  return outcome.ok() ? std::make_unique<CudaEvent>(driver, context, made) : nullptr;
}

Outcome CudaDevice::record(Event &event, Lane lane) {
  enter();
  return finish("cuEventRecord", driver.cuEventRecord(handle(event), streamOf(lane)));
}

Outcome CudaDevice::order(Lane lane, Event &event) {
  enter();
  return finish("cuStreamWaitEvent", driver.cuStreamWaitEvent(streamOf(lane), handle(event), 0));
}

Outcome CudaDevice::wait(Event &event) {
  enter();
  return finish("cuEventSynchronize", driver.cuEventSynchronize(handle(event)));
}

bool CudaDevice::reached(Event &event) {
  enter();
  return driver.cuEventQuery(handle(event)) == 0;
}

Outcome CudaDevice::fill(void *target, uint8_t value, int64_t bytes) {
  if (bytes == 0)
    return {};
  enter();
  return finish("cuMemsetD8Async", driver.cuMemsetD8Async(address(target), value, static_cast<size_t>(bytes),
                                                          streamOf(Lane::Compute)));
}

Outcome CudaDevice::describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) {
  if (!driver.cuTensorMapEncodeTiled)
    return Outcome::failed("the driver has no cuTensorMapEncodeTiled; a newer one is needed");
  if (!TiledTensor::canDescribe(tensor))
    return Outcome::failed("internal error: a tensor map of " + std::to_string(tensor.rank) + " axes");
  enter();
  return finish(encodeTensorMap(driver, map, tensor, tiles));
}

Outcome CudaDevice::prepare(const Launch &launch) {
  if (launch.kernel < 0 || static_cast<size_t>(launch.kernel) >= kernels.size())
    return Outcome::failed("internal error: the program launches kernel " + std::to_string(launch.kernel) +
                           " of " + std::to_string(kernels.size()));
  const adrt_grid &grid = launch.grid;
  if (std::any_of(grid.cluster, grid.cluster + 3, [](uint32_t size) { return size > 1; }))
    return Outcome::failed("internal error: the program launches clusters, which this runtime does not");
  Kernel &launched = kernels[launch.kernel];
  if (grid.shared_bytes <= launched.sharedBytes)
    return {};
  if (CudaResult result = driver.cuFuncSetAttribute(launched.function, cudaMaxDynamicShared,
                                                    static_cast<int>(grid.shared_bytes)))
    return finish("cuFuncSetAttribute", result);
  launched.sharedBytes = grid.shared_bytes;
  return {};
}

Outcome CudaDevice::launch(const Launch &launch) {
  enter();
  if (Outcome outcome = prepare(launch); !outcome.ok())
    return outcome;
  if (Outcome outcome = markStart(); !outcome.ok())
    return outcome;
  const adrt_grid &grid = launch.grid;
  lastKernel = kernels[launch.kernel].name;
  lastSite = launch.site;
  lastTogether = 1;
  return finish("cuLaunchKernel",
                driver.cuLaunchKernel(kernels[launch.kernel].function, grid.blocks[0], grid.blocks[1],
                                      grid.blocks[2], grid.threads[0], grid.threads[1], grid.threads[2],
                                      grid.shared_bytes, streamOf(Lane::Compute),
                                      const_cast<void **>(launch.arguments), nullptr));
}

CudaAnswer CudaDevice::add(CudaGraph &graph, const CommandList &commands, size_t index) const {
  if (const Copy *copy = commands.copyAt(index))
    return graph.add(*copy);
  Launch launch = commands.launchAt(index);
  return graph.add(launch, kernels[launch.kernel].function);
}

std::unique_ptr<Graph> CudaDevice::capture(const CommandList &commands, Outcome &outcome) {
  if (!driver.cuGraphCreate)
    return nullptr;
  enter();
  auto graph = std::make_unique<CudaGraph>(driver, context);
  for (size_t index = 0; index < commands.size() && outcome.ok(); ++index) {
    if (!commands.copyAt(index))
      outcome = prepare(commands.launchAt(index));
    if (outcome.ok())
      outcome = finish(add(*graph, commands, index));
  }
  if (outcome.ok())
    outcome = finish(graph->finish());
  if (!outcome.ok())
    return nullptr;
  return graph;
}

Outcome CudaDevice::change(Graph &graph, const CommandList &commands, size_t index) {
  enter();
  Launch launch = commands.launchAt(index);
  if (Outcome outcome = prepare(launch); !outcome.ok())
    return outcome;
  return finish(static_cast<CudaGraph &>(graph).change(index, launch, kernels[launch.kernel].function));
}

Outcome CudaDevice::replay(Graph &graph, const CommandList &commands) {
  enter();
  if (const Launch *last = commands.lastLaunch()) {
    lastKernel = kernels[last->kernel].name;
    lastSite = last->site;
    lastTogether = commands.size();
  }
  if (Outcome outcome = markStart(); !outcome.ok())
    return outcome;
  return finish(static_cast<CudaGraph &>(graph).run(streamOf(Lane::Compute)));
}

Outcome CudaDevice::startClock() {
  enter();
  for (std::unique_ptr<CudaEvent> *event : {&clockStart, &clockStop}) {
    void *made = nullptr;
    if (*event)
      continue;
    if (Outcome outcome = finish("cuEventCreate", driver.cuEventCreate(&made, cudaEventTimed)); !outcome.ok())
      return outcome;
    *event = std::make_unique<CudaEvent>(driver, context, made);
  }
  clockStarts = true;
  return {};
}

Outcome CudaDevice::markStart() {
  return std::exchange(clockStarts, false) ? record(*clockStart, Lane::Compute) : Outcome();
}

Outcome CudaDevice::stopClock(double &seconds) {
  // A program may ask for nothing.
  if (Outcome outcome = markStart(); !outcome.ok())
    return outcome;
  if (Outcome outcome = record(*clockStop, Lane::Compute); !outcome.ok())
    return outcome;
  if (Outcome outcome = wait(*clockStop); !outcome.ok())
    return outcome;
  float milliseconds = 0;
  Outcome outcome = finish("cuEventElapsedTime",
                           driver.cuEventElapsedTime(&milliseconds, clockStart->get(), clockStop->get()));
  seconds = 1e-3 * static_cast<double>(milliseconds);
  return outcome;
}

Outcome CudaDevice::synchronize() {
  enter();
  Outcome first;
  for (void *each : streams)
    if (Outcome outcome = finish("cuStreamSynchronize", driver.cuStreamSynchronize(each)); first.ok())
      first = outcome;
  return first;
}

std::unique_ptr<Device> adrt::makeCudaDevice(const std::string &image,
                                             const std::vector<std::string> &kernels, std::string &problem) {
  const CudaDriver *driver = loadCudaDriver(problem);
  if (!driver)
    return nullptr;
  auto device = std::make_unique<CudaDevice>(*driver);
  problem = device->open(image, kernels);
  return problem.empty() ? std::unique_ptr<Device>(std::move(device)) : nullptr;
}
