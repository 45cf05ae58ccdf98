/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The functions of adrt.h that all compiled programs call. They forward to the context. */
#include "DeviceContext.h"
#include "Failure.h"
#include "HostCopy.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/adrt.h"

#include <algorithm>
#include <cmath>
#include <deque>

using namespace adrt;

namespace {

/// Records the error of a callback of the host, if it failed.
int32_t finishCallback(adrt_context *context, const adrt_site *site, int32_t status, std::string message) {
  if (status == ADRT_OK)
    return ADRT_OK;
  return context->fail(status, site, std::move(message));
}

/// Copies tensors of a device to the host; `copies` owns their memory.
int32_t copyForHost(adrt_context *context, const adrt_site *site, const adrt_tensor *values, int32_t count,
                    std::deque<HostCopy> &copies, std::vector<adrt_tensor> &views) {
  for (int32_t i = 0; i < count; ++i) {
    HostCopy &copy = copies.emplace_back(*context, site, values[i]);
    if (int32_t status = copy.open(); status != ADRT_OK)
      return status;
    views.push_back(copy.view());
  }
  return ADRT_OK;
}

/// Several loops as one loop, whose units are nanoseconds: each loop begins when the loops before it have
/// ended. A unit of a loop belongs to the range in which it begins.
struct LoopGroup {
  const adrt_loop *loops;
  int64_t count;

  int64_t nanoseconds() const {
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += loops[i].nanoseconds;
    return sum;
  }

  // Depends on the code of the loops and on their order.
  uint64_t identity() const {
    uint64_t sum = static_cast<uint64_t>(count);
    for (int64_t i = 0; i < count; ++i)
      sum = sum * 31 + reinterpret_cast<uintptr_t>(loops[i].body);
    return sum;
  }

  // The first unit that does not start before `time` nanoseconds of the loop.
  static int64_t firstUnit(const adrt_loop &loop, int64_t time) {
    if (time <= 0)
      return 0;
    if (time >= loop.nanoseconds)
      return loop.units;
    double unit = std::ceil(static_cast<double>(time) / static_cast<double>(loop.nanoseconds) *
                            static_cast<double>(loop.units));
    return std::min(static_cast<int64_t>(unit), loop.units);
  }

  static void run(void *closure, int64_t begin, int64_t end) {
    auto &group = *static_cast<LoopGroup *>(closure);
    for (int64_t i = 0; i < group.count; ++i) {
      const adrt_loop &loop = group.loops[i];
      int64_t first = firstUnit(loop, begin), last = firstUnit(loop, end);
      if (first < last)
        loop.body(loop.closure, first, last);
      begin -= loop.nanoseconds;
      end -= loop.nanoseconds;
    }
  }
};

/// A part of a long loop, between two of which Ctrl-C may end it: long, since each range of a part packs
/// operands again, and short for a user who waits.
constexpr int64_t nanosecondsOfPart = 300 * 1000 * 1000;

using Body = void (*)(void *closure, int64_t begin, int64_t end);

/// Units of a loop from `first` on, which count from 0.
struct LoopPart {
  Body body;
  void *closure;
  int64_t first;

  static void run(void *part, int64_t begin, int64_t end) {
    const auto &[body, closure, first] = *static_cast<LoopPart *>(part);
    body(closure, first + begin, first + end);
  }
};

/// Runs a loop that takes seconds in parts. False if it is short. A loop that is interrupted leaves the rest
/// undone, and its context has the error.
bool runInParts(adrt_context *context, int64_t units, int64_t nanoseconds, Body body, void *closure) {
  unsigned threads = std::max(context->getThreads(), 1u);
  int64_t parts = std::min(units, nanoseconds / threads / nanosecondsOfPart);
  if (!context->interrupted || nanoseconds == INT64_MAX || parts <= 1)
    return false;
  for (int64_t part = 0, first = 0; part < parts; ++part) {
    if (context->checkInterrupt() != ADRT_OK)
      return true;
    // Without a product, which may be no number of 64 bits.
    int64_t count = units / parts + (part < units % parts ? 1 : 0);
    LoopPart loop = {body, closure, first};
    ThreadPool::get().run(count, nanoseconds / parts, threads, LoopPart::run, &loop);
    first += count;
  }
  return true;
}

} // namespace

int32_t adrt_fail(adrt_context *context, const adrt_site *site, int32_t kind, const int64_t *values,
                  int32_t count) {
  return context->fail(ADRT_PROGRAM_ERROR, site, describeFailure(kind, values, count));
}

void *adrt_arena(adrt_context *context, int64_t bytes) { return context->allocateArena(bytes); }

void *adrt_buffer(adrt_context *context, int32_t buffer, int64_t bytes) {
  return context->allocateBuffer(buffer, bytes);
}

int32_t adrt_require_allocated(adrt_context *context, const void *memory, const adrt_site *site) {
  return context->requireAllocated(memory, site);
}

void *adrt_result(adrt_context *context, adrt_tensor *result, int32_t index, int32_t type, int32_t rank,
                  const int64_t *shape) {
  return context->allocateResult(*result, index, type, rank, shape);
}

int32_t adrt_donated_result(adrt_context *context, adrt_tensor *result, int32_t index,
                            const adrt_tensor *argument, void *data, const int64_t *shape) {
  return context->returnDonated(*result, index, *argument, data, shape);
}

int32_t adrt_feed(adrt_context *context, const adrt_site *site, const char *name,
                  const adrt_tensor *destination) {
  if (!context->feed)
    return context->fail(ADRT_HOST_ERROR, site, "feed '" + std::string(name) + "': the host feeds nothing");
  if (DeviceContext *device = context->getDeviceContext())
    return device->getTransfers().feed(site, name, *destination);
  std::string message;
  ThreadPool::Pause pause;
  int32_t status = context->callFeed(name, *destination, message);
  return finishCallback(context, site, status, "feed '" + std::string(name) + "': " + message);
}

int32_t adrt_receive(adrt_context *context, const adrt_site *site, const char *name,
                     const adrt_tensor *values, int32_t count) {
  // A host need not receive values.
  if (!context->receive)
    return ADRT_OK;
  if (DeviceContext *device = context->getDeviceContext())
    return device->getTransfers().receive(site, name, values, count);
  std::string message;
  ThreadPool::Pause pause;
  int32_t status = context->callReceive(name, values, count, message);
  return finishCallback(context, site, status, "receive '" + std::string(name) + "': " + message);
}

int32_t adrt_check(adrt_context *context, const adrt_site *site, int32_t kind, double tolerance,
                   int32_t relative, const adrt_tensor *actual, const adrt_tensor *expected) {
  std::deque<HostCopy> copies;
  std::vector<adrt_tensor> views;
  for (const adrt_tensor *side : {actual, expected})
    if (int32_t status = side ? copyForHost(context, site, side, 1, copies, views) : ADRT_OK;
        status != ADRT_OK)
      return status;
  std::string message =
      describeCheck(kind, tolerance, relative != 0, views.front(), expected ? &views.back() : nullptr);
  return message.empty() ? ADRT_OK : context->fail(ADRT_CHECK_FAILED, site, std::move(message));
}

int32_t adrt_poll(adrt_context *context) { return context->poll(); }

int64_t adrt_threads_for(adrt_context *context, int64_t nanoseconds) {
  return ThreadPool::get().threadsFor(nanoseconds, context->getThreads());
}

void adrt_parallel_for(adrt_context *context, int64_t units, int64_t nanoseconds,
                       void (*body)(void *closure, int64_t begin, int64_t end), void *closure) {
  if (!runInParts(context, units, nanoseconds, body, closure))
    ThreadPool::get().runTried(reinterpret_cast<uintptr_t>(body), units, nanoseconds, context->getThreads(),
                               body, closure);
}

void adrt_parallel_loops(adrt_context *context, int64_t count, const adrt_loop *loops) {
  LoopGroup group = {loops, count};
  int64_t nanoseconds = group.nanoseconds();
  if (!runInParts(context, nanoseconds, nanoseconds, LoopGroup::run, &group))
    ThreadPool::get().runTried(group.identity(), nanoseconds, nanoseconds, context->getThreads(),
                               LoopGroup::run, &group);
}

void adrt_kernel_begin(adrt_context *context, int32_t kernel) { context->beginKernel(kernel); }

void adrt_kernel_end(adrt_context *context, int32_t kernel) { context->endKernel(kernel); }
