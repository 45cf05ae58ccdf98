/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Memory, errors and times of one running program. */
#include "adjoint/Runtime/Host/Context.h"
#include "DeviceMemory.h"
#include "Transfers.h"
#include "adjoint/Support/FloatingPointState.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace adrt;

namespace {

// Far beyond any machine; a larger number is a broken program.
constexpr int32_t maxResults = 1 << 20;
constexpr int32_t maxBuffers = 1 << 24;

} // namespace

//===- Context ------------------------------------------------------------===//

adrt_context::adrt_context() = default;
adrt_context::~adrt_context() = default;

int32_t adrt_context::run(adrt_entry entry, const adrt_tensor *arguments, adrt_tensor *values) {
  return run([&] { return entry(this, arguments, values); });
}

static size_t stackOfThread() {
  static thread_local const size_t bytes = [] {
    pthread_attr_t attributes;
    void *lowest;
    size_t size = leastStack;
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
  if (!deviceMemory && stackOfThread() < leastStack)
    return fail(ADRT_TARGET_ERROR, nullptr,
                "the stack of this thread has " + std::to_string(stackOfThread()) + " bytes, expected " +
                    std::to_string(leastStack) +
                    " for a compiled program; see ulimit -s, or start the thread with a larger one");
  arenaBlocksUsed = 0;
  arenaBytes = 0;
  FloatingPointScope floatingPoint;
  ThreadPool::Caller caller;
  if (!deviceMemory)
    return runOnHost(body);
  int32_t begun = beginDeviceRun();
  return endDeviceRun(begun == ADRT_OK ? body() : begun);
}

int32_t adrt_context::runOnHost(const std::function<int32_t()> &body) {
  auto start = std::chrono::steady_clock::now();
  int32_t status = body();
  if (measurement)
    measurement->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return status;
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
             (bytes < 0 || bytes == INT64_MAX ? "unrepresentable size" : std::to_string(bytes) + " bytes"));
  else if (poisonMemory)
    std::memset(memory, 0xff, static_cast<size_t>(bytes));
  return memory;
}

void *adrt_context::allocateArena(int64_t bytes) {
  if (deviceMemory)
    return requireMemory(deviceMemory->arena(bytes), bytes, "the arena of intermediate tensors");
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
    fail(ADRT_HOST_ERROR, nullptr, "the compiled program asks for buffer " + std::to_string(number));
    return nullptr;
  }
  if (deviceMemory)
    return requireMemory(deviceMemory->buffer(number, bytes), bytes, "an intermediate tensor");
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

void *adrt_context::allocateResult(adrt_tensor &result, int32_t index, int32_t type, int32_t rank,
                                   const int64_t *shape) {
  if (index < 0 || index >= maxResults || elementSize(type) == 0 || rank < 0) {
    fail(ADRT_HOST_ERROR, nullptr,
         "the compiled program describes result " + std::to_string(index) + " wrongly");
    return nullptr;
  }
  ResultMemory::Slot &slot = results.slot(index);
  void *memory = results.output(index, type, rank, shape);
  if (!memory) {
    int64_t bytes = byteSize(type, rank, shape);
    if (slot.data.capacity() / 2 > std::max(bytes, adrt::Buffer::alignment))
      slot.data = Buffer(); // a result that lives long would keep all of it
    memory = allocate(slot.data, bytes, "a result");
  }
  if (!memory)
    return nullptr;
  slot.shape.assign(shape, shape + rank);
  result = {memory, slot.shape.data(), rank, type};
  if (!deviceMemory)
    return memory;
  int64_t bytes = byteSize(type, rank, shape);
  writtenResults[index] = {memory, bytes};
  return requireMemory(deviceMemory->result(index, bytes), bytes, "a result");
}

int32_t adrt_context::poll() {
  if (transfers) {
    if (int32_t status = finish(getDevice()->submit(), nullptr); status != ADRT_OK)
      return status;
    if (int32_t status = transfers->deliver(Transfers::Wait::No); status != ADRT_OK)
      return status;
  }
  return checkInterrupt();
}

int32_t adrt_context::checkInterrupt() {
  if (!interrupted || !interrupted())
    return ADRT_OK;
  return fail(ADRT_INTERRUPTED, nullptr, "interrupted");
}

void adrt_context::endKernel(int32_t kernel) {
  if (!kernelTimes.contains(kernel))
    return;
  if (deviceMemory)
    finish(getDevice()->synchronize(), nullptr); // the next service that can fail returns it
  kernelTimes.end(kernel);
}
