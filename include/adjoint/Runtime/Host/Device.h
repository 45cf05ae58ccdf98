/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The device that runs the kernels of a program: an emulated GPU, or a real one. A device has memory of its
   own, which only these functions access, and three streams. Each stream executes its work asynchronously, in
   the order of the calls. Events order streams against each other and against the host, as in CUDA. */
#ifndef ADJOINT_RUNTIME_HOST_DEVICE_H
#define ADJOINT_RUNTIME_HOST_DEVICE_H

#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/MemoryCount.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace adrt {

class CommandList;

/// Copies between host and device that this process has made, of tensors and of single elements.
struct TransferCounts {
  uint64_t toDevice = 0, toHost = 0;
};
TransferCounts getTransferCounts();
/// Called by devices.
void countCopyToDevice();
void countCopyToHost();

/// The result of a call. An error of earlier asynchronous work may be returned by a later call.
struct Outcome {
  int32_t status = ADRT_OK;
  std::string message;             ///< lower case, without a final period
  std::string location;            ///< FILE:LINE:COLUMN of the instruction, if the device knows it
  const adrt_site *site = nullptr; ///< of the failed command, when it was enqueued by an earlier call
  /// Of the last launch before the error, which may have caused it.
  const adrt_site *lastLaunch = nullptr;

  bool ok() const { return status == ADRT_OK; }
  static Outcome failed(std::string message, std::string location = "") {
    return {ADRT_TARGET_ERROR, std::move(message), std::move(location)};
  }
};

/// Each direction of copies has a stream of its own: device-to-host copies wait for the kernels that write
/// their data, and host-to-device copies must not queue after them.
enum class StreamKind { Compute, HostToDevice, DeviceToHost };

/// A point in the work of a stream. Each device has its own implementation.
class Event {
public:
  virtual ~Event() = default;
};

/// A kernel by its number on the device, and the values of its arguments, by address.
struct Launch {
  const adrt_site *site = nullptr;
  int32_t kernel = 0;
  adrt_grid grid = {};
  void *const *arguments = nullptr;
  const int32_t *bytes = nullptr; ///< of each argument's value
  int32_t count = 0;
};

/// Tiles of a tensor that kernels load through a tensor map; see adrt_tensor_map.
struct Tiles {
  const uint32_t *box;
  uint32_t swizzleBytes;
  bool tf32 = false;
};

/// Asynchronous copies between host and device, and the events that order streams.
class Streams {
public:
  virtual ~Streams() = default;

  /// Enqueues a copy on the stream of its direction. The host memory comes from `allocateHost` and stays in
  /// use until an event recorded after the copy is complete.
  virtual Outcome copyToDevice(void *target, const void *source, int64_t bytes) = 0;
  virtual Outcome copyToHost(void *target, const void *source, int64_t bytes) = 0;
  /// Page-locked host memory, with the rules of Device::allocate and Device::release.
  virtual void *allocateHost(int64_t bytes) = 0;
  virtual void releaseHost(void *memory) = 0;
  /// The error of an `allocateHost` that has just returned null, for `purpose`, e.g. "8 bytes of copies".
  virtual Outcome explainHostFailure(const std::string &purpose) const;

  /// Null, with the reason in `outcome`, when the device has no more events.
  virtual std::unique_ptr<Event> makeEvent(Outcome &outcome) = 0;
  /// Records the event after all work that is enqueued on the stream; an earlier record is forgotten.
  virtual Outcome record(Event &event, StreamKind stream) = 0;
  /// Later work of the stream starts after the event.
  virtual Outcome waitFor(StreamKind stream, Event &event) = 0;
  /// Blocks the host until the work before the event is done.
  virtual Outcome wait(Event &event) = 0;
  virtual bool isComplete(Event &event) = 0;
};

/// Launches and copies that one call enqueues. Each device has its own implementation.
class Graph {
public:
  virtual ~Graph() = default;
};

struct GraphCounts {
  uint64_t instantiated = 0;
  uint64_t launched = 0;
  uint64_t updated = 0; ///< launches in graphs whose arguments or grid were updated
};

/// Graphs of commands, like those of CUDA.
class Graphs {
public:
  virtual ~Graphs() = default;

  /// Null when the device has no graphs, or fails to make one; `outcome` then has the reason.
  virtual std::unique_ptr<Graph> instantiate(const CommandList &commands, Outcome &outcome) = 0;
  /// Replaces the arguments and the grid of command `index` by those of `commands`, whose command `index`
  /// launches the same kernel.
  virtual Outcome update(Graph &graph, const CommandList &commands, size_t index) = 0;
  /// Enqueues all commands of the graph on the compute stream. They equal `commands`. Errors name the sites
  /// of `commands`.
  virtual Outcome launch(Graph &graph, const CommandList &commands) = 0;
};

/// A context has at most one device. Devices are not thread-safe.
class Device {
public:
  virtual ~Device() = default;

  /// At least `bytes` bytes, 256-byte aligned, uninitialized; null when there is not enough memory.
  virtual void *allocate(int64_t bytes) = 0;
  /// The error of an `allocate` that has just returned null, for `purpose`, e.g. "a result of 8 bytes".
  virtual Outcome explainFailure(const std::string &purpose) const;
  virtual MemoryCount countMemory() const { return {}; }
  /// Frees memory when all enqueued work is done.
  virtual void release(void *memory) = 0;
  /// ADRT_HOST_ERROR if the bytes are no memory that kernels of this device may access.
  virtual Outcome requireMemory(const void *memory, int64_t bytes) { return {}; }

  /// Host to device, device to host, and inside the device, on the compute stream. The host may reuse its
  /// memory on return.
  virtual Outcome write(void *target, const void *source, int64_t bytes) = 0;
  virtual Outcome read(void *target, const void *source, int64_t bytes) = 0;
  virtual Outcome copy(void *target, const void *source, int64_t bytes) = 0;
  /// Sets every byte.
  virtual Outcome fill(void *target, uint8_t value, int64_t bytes) = 0;

  /// Encodes a tensor map for kernels that load tiles of a tensor.
  virtual Outcome describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) = 0;

  virtual const char *kernelName(int32_t kernel) const { return ""; }
  virtual Outcome launch(const Launch &launch) = 0;
  /// The number of streaming multiprocessors.
  virtual int32_t smCount() const = 0;
  /// Blocks the host until all streams are idle.
  virtual Outcome synchronize() = 0;
  /// Blocks the host until the work is done that another library has enqueued on its stream, a handle of the
  /// driver. A device that no other library uses has none.
  virtual Outcome waitForForeignStream(uintptr_t stream) { return {}; }

  virtual Streams &getStreams() = 0;
  /// Null for a device that has no graphs.
  virtual Graphs *getGraphs() { return nullptr; }

  /// Enqueues deferred commands, on a device that defers them.
  virtual Outcome submit() { return {}; }
  virtual GraphCounts getGraphCounts() const { return {}; }

  /// Measures commands: the clock starts right before the next launch, copy or graph launch on the compute
  /// stream, and stops after the last one, for which `stopClock` waits. A device without a clock of its own
  /// measures the time between the two calls with the clock of the host.
  virtual Outcome startClock();
  virtual Outcome stopClock(double &seconds);
  virtual const char *clockName() const { return "monotonic"; }

  /// Polled during long work, which stops when it returns true. May be empty.
  std::function<bool()> interrupted;
  /// Identifies the program of the kernels by a number that is never reused; 0 for none.
  uint64_t program = 0;

private:
  std::chrono::steady_clock::time_point clockStart;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_DEVICE_H
