/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What runs the kernels of a program: an emulated GPU, or a real one. A device has memory of its own, which
   only these functions reach. It has three lanes of work: one computes, one brings from the host and one
   fetches for it. Each does what it is asked in order, perhaps later; between them, and towards the host,
   events make an order. */
#ifndef ADJOINT_RUNTIME_HOST_DEVICE_H
#define ADJOINT_RUNTIME_HOST_DEVICE_H

#include "adjoint/Runtime/adrt.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace adrt {

class CommandList;

/// How a request to a device ended; what was asked for before may show here.
struct Outcome {
  int32_t status = ADRT_OK;
  std::string message;             ///< lower case, without a final period
  std::string location;            ///< FILE:LINE:COLUMN of the instruction, where the device knows it
  const adrt_site *site = nullptr; ///< of what failed, when that was asked for before
  /// Of the last launch before, which may be at fault.
  const adrt_site *behind = nullptr;

  bool ok() const { return status == ADRT_OK; }
  static Outcome failed(std::string message, std::string location = "") {
    return {ADRT_TARGET_ERROR, std::move(message), std::move(location)};
  }
};

/// Two are for transfers: what is fetched waits for what computes it, and what is brought must not wait
/// behind that.
enum class Lane { Compute, Bring, Fetch };

/// A place in the work of a lane, of a device's own making.
class Event {
public:
  virtual ~Event() = default;
};

/// A kernel by the number in which the device was given it, and the values of its arguments, by address.
struct Launch {
  const adrt_site *site = nullptr;
  int32_t kernel = 0;
  adrt_grid grid = {};
  void *const *arguments = nullptr;
  const int32_t *bytes = nullptr; ///< of each argument's value
  int32_t count = 0;
};

/// Launches and copies that a device has got ready to be asked for as one, of its own making.
class Graph {
public:
  virtual ~Graph() = default;
};

/// Tiles of a tensor that kernels have brought, as adrt_tensor_map says.
struct Tiles {
  const uint32_t *box;
  uint32_t swizzleBytes;
  bool tf32 = false;
};

/// How often a device asked for several commands as one.
struct ReplayCounts {
  uint64_t recorded = 0; ///< graphs made
  uint64_t replayed = 0; ///< graphs asked for
  uint64_t changed = 0;  ///< launches in them that had other arguments, or another grid
};

/// One per context: not for several threads at a time.
class Device {
public:
  virtual ~Device() = default;

  /// At least `bytes` bytes, 256-byte aligned and of any content; null when there is not enough memory.
  virtual void *allocate(int64_t bytes) = 0;
  /// Gives memory back, when what was asked for before is done.
  virtual void release(void *memory) = 0;

  /// From the host's memory, to it, and inside the device's, on the lane that computes. The host's memory is
  /// free again on return.
  virtual Outcome write(void *target, const void *source, int64_t bytes) = 0;
  virtual Outcome read(void *target, const void *source, int64_t bytes) = 0;
  virtual Outcome copy(void *target, const void *source, int64_t bytes) = 0;
  /// The same on the lanes for transfers, with memory of `allocateHost`, which is in use until an event
  /// behind the copy has been waited for.
  virtual Outcome bring(void *target, const void *source, int64_t bytes) = 0;
  virtual Outcome fetch(void *target, const void *source, int64_t bytes) = 0;
  /// Memory of the host, as `allocate` and `release` for the device's.
  virtual void *allocateHost(int64_t bytes) = 0;
  virtual void releaseHost(void *memory) = 0;

  /// Null and the reason in `outcome` when there can be no more.
  virtual std::unique_ptr<Event> makeEvent(Outcome &outcome) = 0;
  /// Puts the event behind all work that the lane has; it has no other place then.
  virtual Outcome record(Event &event, Lane lane) = 0;
  /// Later work of the lane comes after the event.
  virtual Outcome order(Lane lane, Event &event) = 0;
  /// Waits until the work before the event is done, or asks whether it is.
  virtual Outcome wait(Event &event) = 0;
  virtual bool reached(Event &event) = 0;

  /// Sets every byte.
  virtual Outcome fill(void *target, uint8_t value, int64_t bytes) = 0;

  /// Fills `map` for kernels that have tiles of a tensor brought.
  virtual Outcome describe(void *map, const adrt_tensor &tensor, const Tiles &tiles) = 0;

  virtual const char *kernelName(int32_t kernel) const { return ""; }
  virtual Outcome launch(const Launch &launch) = 0;
  /// How many blocks run at the same time, if each takes a processor.
  virtual int32_t processors() const = 0;
  /// Waits for everything, on all lanes.
  virtual Outcome synchronize() = 0;

  /// What was asked for since the last time is done now, if the device puts off what it is asked for.
  virtual Outcome submit() { return {}; }
  virtual ReplayCounts getReplays() const { return {}; }
  /// Gets the commands ready. Null when the device cannot, with the reason in `outcome` if it failed to.
  virtual std::unique_ptr<Graph> capture(const CommandList &commands, Outcome &outcome) { return nullptr; }
  /// From now on, command `index` of the graph is the one of `commands`, a launch of the same kernel.
  virtual Outcome change(Graph &graph, const CommandList &commands, size_t index) { return {}; }
  /// All commands of the graph, on the lane that computes. They are those of `commands`, which may come from
  /// other places of the program: errors name these.
  virtual Outcome replay(Graph &graph, const CommandList &commands) { return {}; }

  /// A clock around commands, for measurements: it starts right before the next launch, copy or replay on the
  /// lane that computes, and stops behind the last one, for which `stopClock` waits. A device without a clock
  /// of its own has that of the host, which runs from one call to the other.
  virtual Outcome startClock();
  virtual Outcome stopClock(double &seconds);
  virtual const char *clockName() const { return "monotonic"; }

  /// Asked now and then during long work, which ends when the answer is true. May be empty.
  std::function<bool()> interrupted;
  /// What the kernels belong to: a number of its owner's, who never gives it twice; 0 for none.
  uint64_t program = 0;

private:
  std::chrono::steady_clock::time_point clockStart;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_DEVICE_H
