/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Memory, errors and times of one running program. */
#include "adjoint/Runtime/Host/Context.h"
#include "DeviceContext.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/MemoryLimit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace adrt;

namespace {

// No program needs as many; a larger number shows a broken program.
constexpr int32_t maxResults = 1 << 20;
constexpr int32_t maxBuffers = 1 << 24;

} // namespace

//===- Context ------------------------------------------------------------===//

adrt_context::adrt_context() = default;
adrt_context::~adrt_context() = default;

void adrt_context::setDevice(std::shared_ptr<Device> next) {
  if (device && device->isOf(next))
    return;
  device.reset();
  if (next)
    device = std::make_unique<DeviceContext>(*this, std::move(next));
}

Device *adrt_context::getDevice() const { return device ? &device->getDevice() : nullptr; }

DeviceContext *adrt_context::requireDevice() {
  if (!device)
    fail(ADRT_TARGET_ERROR, nullptr, "the program was compiled for a device, and there is none");
  return device.get();
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

int32_t adrt_context::run(adrt_entry entry, const adrt_tensor *arguments, adrt_tensor *values) {
  return run([&] { return entry(this, arguments, values); });
}

static size_t stackOfThread() {
  static thread_local const size_t bytes = [] {
    pthread_attr_t attributes;
    void *lowest;
    size_t size = minStack;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
      return size;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return size;
  }();
  return bytes;
}

int32_t adrt_context::run(const std::function<int32_t()> &body) {
  error = ErrorRecord();
  if (!device && stackOfThread() < minStack)
    return fail(ADRT_TARGET_ERROR, nullptr,
                "the stack of this thread has " + std::to_string(stackOfThread()) + " bytes, expected " +
                    std::to_string(minStack) +
                    " for a compiled program; see ulimit -s, or start the thread with a larger one");
  arenaBlocksUsed = 0;
  arenaBytes = 0;
  FloatingPointScope floatingPoint;
  ThreadPool::Caller caller;
  if (!device)
    return runOnHost(body);
  int32_t begun = device->beginRun();
  return device->endRun(begun == ADRT_OK ? body() : begun);
}

int32_t adrt_context::runOnHost(const std::function<int32_t()> &body) {
  auto start = std::chrono::steady_clock::now();
  int32_t status = body();
  if (measured)
    measured = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // A kernel that was interrupted is no call that returns a status.
  return status == ADRT_OK && error.status == ADRT_INTERRUPTED ? ADRT_INTERRUPTED : status;
}

void adrt_context::setThreads(unsigned count) {
  threads = std::max(count, 1u);
  ThreadPool::get().reserve(threads);
}

int32_t adrt_context::fail(int32_t status, const adrt_site *site, std::string message) {
  std::lock_guard<std::mutex> lock(errorMutex);
  if (error.status != ADRT_OK)
    return error.status;
  error.status = status;
  if (site) {
    error.location = site->location ? site->location : "";
    error.operation = site->operation ? site->operation : "";
  }
  error.message = std::move(message);
  return status;
}

int32_t adrt_context::requireAllocated(const void *memory, const adrt_site *site) {
  if (memory)
    return ADRT_OK;
  std::lock_guard<std::mutex> lock(errorMutex);
  if (error.location.empty()) {
    error.location = site->location;
    error.operation = site->operation;
  }
  return error.status;
}

void *adrt_context::allocate(Buffer &buffer, int64_t bytes, const char *purpose) {
  void *memory = buffer.reserve(bytes);
  if (!memory)
    fail(ADRT_TARGET_ERROR, nullptr,
         "not enough memory for " + std::string(purpose) + " of " +
             (bytes < 0 || bytes == INT64_MAX ? "unrepresentable size" : describeLackOfMemory(bytes)));
  else if (poisonMemory)
    std::memset(memory, 0xff, static_cast<size_t>(bytes));
  return memory;
}

void *adrt_context::allocateArena(int64_t bytes) {
  if (device)
    return device->allocateArena(bytes);
  if (arenaBlocksUsed == arena.size())
    arena.push_back(std::make_unique<Buffer>());
  void *memory = allocate(*arena[arenaBlocksUsed], bytes, "the arena of intermediate tensors");
  if (!memory)
    return nullptr;
  ++arenaBlocksUsed;
  arenaBytes += bytes;
  arenaPeak = std::max(arenaPeak, arenaBytes + bufferBytes);
  return memory;
}

void *adrt_context::allocateBuffer(int32_t number, int64_t bytes) {
  if (number < 0 || number >= maxBuffers) {
    fail(ADRT_HOST_ERROR, nullptr, "the compiled program requests buffer " + std::to_string(number));
    return nullptr;
  }
  if (device)
    return device->allocateBuffer(number, bytes);
  if (static_cast<size_t>(number) >= buffers.size())
    buffers.resize(number + 1);
  if (!buffers[number])
    buffers[number] = std::make_unique<Buffer>();
  Buffer &buffer = *buffers[number];
  int64_t before = buffer.capacity();
  void *memory = allocate(buffer, bytes, "an intermediate tensor");
  bufferBytes += buffer.capacity() - before;
  arenaPeak = std::max(arenaPeak, arenaBytes + bufferBytes);
  return memory;
}

int32_t adrt_context::requireResult(int32_t index, int32_t type, int32_t rank) {
  bool isOne = index >= 0 && index < maxResults && size_t(index) < resultCount;
  if (isOne && elementSize(type) != 0 && rank >= 0)
    return ADRT_OK;
  return fail(ADRT_HOST_ERROR, nullptr,
              "the compiled program describes result " + std::to_string(index) + " wrongly");
}

void *adrt_context::allocateResult(adrt_tensor &result, int32_t index, int32_t type, int32_t rank,
                                   const int64_t *shape) {
  if (requireResult(index, type, rank) != ADRT_OK)
    return nullptr;
  ResultMemory::Slot &slot = results.slot(index);
  slot.shape.assign(shape, shape + rank);
  int64_t bytes = byteSize(type, rank, shape);
  if (device && results.staysOnDevice(index)) {
    void *memory = device->allocateKeptResult(index, bytes);
    result = {memory, slot.shape.data(), rank, type, ADRT_DEVICE_MEMORY};
    return memory;
  }
  void *memory = results.output(index, type, rank, shape);
  if (!memory) {
    if (slot.data.capacity() / 2 > std::max(bytes, adrt::Buffer::alignment))
      slot.data = Buffer(); // otherwise a small result could keep a large block for long
    memory = allocate(slot.data, bytes, "a result");
  }
  if (!memory)
    return nullptr;
  result = {memory, slot.shape.data(), rank, type, ADRT_HOST_MEMORY};
  return device ? device->allocateResult(index, memory, bytes) : memory;
}

std::shared_ptr<DeviceBlock> adrt_context::takeDeviceResult(int32_t index) {
  return device ? device->takeResult(index) : nullptr;
}

int32_t adrt_context::returnDonated(adrt_tensor &result, int32_t index, const adrt_tensor &argument,
                                    void *data, const int64_t *shape) {
  if (int32_t status = requireResult(index, argument.type, argument.rank); status != ADRT_OK)
    return status;
  std::vector<int64_t> &own = results.slot(index).shape;
  own.assign(shape, shape + argument.rank);
  result = {argument.data, own.data(), argument.rank, argument.type, argument.memory};
  if (device && argument.memory == ADRT_HOST_MEMORY)
    device->readAtEnd(index, data, argument.data, byteSize(argument.type, argument.rank, shape));
  return ADRT_OK;
}

int32_t adrt_context::callFeed(const char *name, const adrt_tensor &destination, std::string &message) const {
  HostStateScope hostState;
  return feed(name, destination, message);
}

int32_t adrt_context::callReceive(const char *name, const adrt_tensor *values, int32_t count,
                                  std::string &message) const {
  HostStateScope hostState;
  return receive(name, values, count, message);
}

bool adrt_context::isInterrupted() const {
  if (!interrupted)
    return false;
  HostStateScope hostState;
  return interrupted();
}

int32_t adrt_context::poll() {
  int32_t status = device ? device->poll() : ADRT_OK;
  return status == ADRT_OK ? checkInterrupt() : status;
}

int32_t adrt_context::checkInterrupt() {
  return isInterrupted() ? fail(ADRT_INTERRUPTED, nullptr, "interrupted") : ADRT_OK;
}

// A run that is measured as a whole has the clock of the device.
bool adrt_context::timesOnDevice() const { return device && !measured; }

void adrt_context::beginKernel(int32_t kernel) {
  kernelTimes.begin(kernel);
  if (timesOnDevice() && kernelTimes.contains(kernel))
    finish(getDevice()->startClock(), nullptr); // the next function that returns a status returns the error
}

void adrt_context::endKernel(int32_t kernel) {
  if (!kernelTimes.contains(kernel))
    return;
  if (!timesOnDevice()) {
    kernelTimes.end(kernel);
    return;
  }
  double seconds = 0;
  finish(getDevice()->stopClock(seconds), nullptr);
  kernelTimes.add(kernel, std::chrono::nanoseconds(static_cast<int64_t>(std::llround(seconds * 1e9))));
}
