/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The host's side of `adrt`: one context per running program. It holds the state of the functions of adrt.h:
   the callbacks of the host, memory, the first error, the times of kernels, the number of threads. */
#ifndef ADJOINT_RUNTIME_HOST_CONTEXT_H
#define ADJOINT_RUNTIME_HOST_CONTEXT_H

#include "adjoint/Runtime/Host/Device.h"
#include "adjoint/Runtime/Host/KernelTimes.h"
#include "adjoint/Runtime/Host/ResultMemory.h"
#include "adjoint/Runtime/Host/ThreadPool.h"
#include "adjoint/Runtime/Host/Watchdog.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/Buffer.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace adrt {

/// The first error of an execution.
struct ErrorRecord {
  int32_t status = ADRT_OK;
  std::string location;  ///< of the operation in the source; empty when the error has no location
  std::string operation; ///< its name, e.g. ad.add
  std::string message;   ///< lower case, without a final period
};

class DeviceBlock;
class DeviceContext;
class DeviceHeap;

} // namespace adrt

struct adrt_context {
  /// Fills `destination`; returns a status of adrt.h and, unless ADRT_OK, sets `error`.
  using Feed = std::function<int32_t(const char *name, const adrt_tensor &destination, std::string &error)>;
  /// Gets `count` tensors; returns as a feed does.
  using Receive =
      std::function<int32_t(const char *name, const adrt_tensor *values, int32_t count, std::string &error)>;

  adrt_context();
  ~adrt_context();
  adrt_context(const adrt_context &) = delete;
  adrt_context &operator=(const adrt_context &) = delete;

  Feed feed;
  Receive receive;
  /// Called at each poll and each launch on a device, on the thread that runs the program. The program stops
  /// when it returns true. May be empty.
  std::function<bool()> interrupted;
  /// The values that the host feeds do not depend on values that it received. On a device, a feed may then be
  /// called before the host receives values that the program sent earlier.
  bool feedsAhead = false;
  /// Repeated commands of a device are replayed as graphs. Read when a program first runs in this context.
  bool replays = true;
  /// Receives warnings; `site` may be null. May be empty.
  std::function<void(const adrt_site *site, const std::string &message)> warn;
  /// For measurements: with a number, each run is timed in seconds, from its first command on the device to
  /// the end of its last command.
  std::optional<double> measured;
  /// The memory of results that stay on the device (ResultMemory::outputs); the host takes them after a run.
  /// Without it they have memory of this context, which the next run reuses.
  std::shared_ptr<adrt::DeviceHeap> heap;
  uint64_t heapUser = 0; ///< DeviceHeap::addUser
  /// Moves out result `index` of the last run if it has memory of the heap; else null.
  std::shared_ptr<adrt::DeviceBlock> takeDeviceResult(int32_t index);
  /// Fills arena and results with NaN patterns first, so that a read of unwritten memory shows.
  bool poisonMemory = false;

  /// Runs an entry in the floating-point state that compiled code needs. Clears the error of the previous run
  /// and reuses its memory.
  int32_t run(adrt_entry entry, const adrt_tensor *arguments, adrt_tensor *results);
  /// The same for code that is not an adrt_entry, e.g. an interpreter that calls the services itself.
  int32_t run(const std::function<int32_t()> &body);

  adrt::ResultMemory results;
  /// The number of results that the host has room for; a program that writes further ones is refused.
  size_t resultCount = SIZE_MAX;
  adrt::KernelTimes kernelTimes;

  /// The device of the program, null for programs for the CPU. Memory of this context on an earlier device is
  /// freed.
  void setDevice(std::shared_ptr<adrt::Device> device);
  adrt::Device *getDevice() const;
  /// Null without a device.
  adrt::DeviceContext *getDeviceContext() const { return device.get(); }

  /// Calls `expired` when a kernel on the device takes longer than `limit`. The host then waits for each
  /// kernel before it launches the next one, so that the late kernel is known. False, with errno, and no
  /// kernel is watched, if there is no thread for it.
  bool watchKernels(std::chrono::duration<double> limit, adrt::Watchdog::Expired expired) {
    watchdog = std::make_unique<adrt::Watchdog>(limit, std::move(expired));
    if (!watchdog->start())
      watchdog.reset();
    return watchdog != nullptr;
  }

  /// The maximum number of threads of a loop of this context, the caller included; 0 counts as 1.
  void setThreads(unsigned count);
  unsigned getThreads() const { return threads; }

  const adrt::ErrorRecord &getError() const { return error; }
  /// The peak size of arena and buffers in one run, in bytes.
  int64_t getArenaBytes() const { return arenaPeak; }

  /// Call a function of the host, in the floating-point state of the host.
  int32_t callFeed(const char *name, const adrt_tensor &destination, std::string &error) const;
  int32_t callReceive(const char *name, const adrt_tensor *values, int32_t count, std::string &error) const;
  bool isInterrupted() const;

  // The functions of adrt.h; see there.
  int32_t fail(int32_t status, const adrt_site *site, std::string message);
  /// ADRT_OK when `memory` is not null, else the status of the recorded error, which gets the site if it has
  /// none.
  int32_t requireAllocated(const void *memory, const adrt_site *site);
  void *allocateArena(int64_t bytes);
  void *allocateBuffer(int32_t number, int64_t bytes);
  void *allocateResult(adrt_tensor &result, int32_t index, int32_t type, int32_t rank, const int64_t *shape);
  int32_t returnDonated(adrt_tensor &result, int32_t index, const adrt_tensor &argument, void *data,
                        const int64_t *shape);
  /// Records an error and returns null when there is no device.
  adrt::DeviceContext *requireDevice();
  /// Records the error of a call of the device, if it failed; returns its status.
  int32_t finish(const adrt::Outcome &outcome, const adrt_site *site);
  int32_t poll();
  /// ADRT_INTERRUPTED once `interrupted` has returned true.
  int32_t checkInterrupt();
  /// Around a launch of a program that was compiled with profiling.
  void beginKernel(int32_t kernel);
  void endKernel(int32_t kernel);

private:
  bool timesOnDevice() const;
  friend class adrt::DeviceContext;

  void *allocate(adrt::Buffer &buffer, int64_t bytes, const char *purpose);
  /// ADRT_OK if the program has a result `index` of this type and rank; else records an error.
  int32_t requireResult(int32_t index, int32_t type, int32_t rank);
  int32_t runOnHost(const std::function<int32_t()> &body);

  unsigned threads = 1;
  std::mutex errorMutex; // kernels report errors from any thread
  adrt::ErrorRecord error;
  // Usually one block; each further request of a run gets another one, since the program may still use the
  // first.
  std::vector<std::unique_ptr<adrt::Buffer>> arena;
  size_t arenaBlocksUsed = 0;
  int64_t arenaBytes = 0, arenaPeak = 0;
  std::vector<std::unique_ptr<adrt::Buffer>> buffers; // of dynamic sizes, by number
  int64_t bufferBytes = 0;
  std::unique_ptr<adrt::DeviceContext> device; // null without a device
  std::unique_ptr<adrt::Watchdog> watchdog;    // null unless kernels are watched
};

#endif // ADJOINT_RUNTIME_HOST_CONTEXT_H
