/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Feeds and receives of programs on a device, overlapped with its kernels. A value is copied through
   page-locked host memory and a staging buffer on the device: only the compute stream reads and writes the
   tensors of the program. Double buffering by name lets one value be copied while the previous one is in use.
   Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_TRANSFERS_H
#define ADJOINT_LIB_RUNTIME_HOST_TRANSFERS_H

#include "adjoint/Runtime/Host/Context.h"

#include <deque>
#include <map>

namespace adrt {

class Transfers {
public:
  Transfers(adrt_context &context, Device &device)
      : context(context), device(device), streams(device.getStreams()) {}

  /// See adrt.h. The host gets received values later, in the order of the calls.
  int32_t feed(const adrt_site *site, const char *name, const adrt_tensor &destination);
  int32_t receive(const adrt_site *site, const char *name, const adrt_tensor *values, int32_t count);

  enum class Wait { No, Yes };
  /// Passes the received values whose copies are complete to the host; with Yes, waits for all copies.
  int32_t deliver(Wait wait);

private:
  /// Staging memory for one value.
  struct Slot {
    explicit Slot(Device &device) : device(device) {}
    ~Slot() { release(); }
    Slot(const Slot &) = delete;
    Slot &operator=(const Slot &) = delete;
    Outcome reserve(int64_t bytes);
    void release();

    Device &device;
    void *onHost = nullptr, *onDevice = nullptr;
    int64_t capacity = 0;
    // Recorded after the last use by the compute stream and by the stream of copies; null until the first
    // use.
    std::unique_ptr<Event> computed, transferred;
    bool pending = false; // the host has not got the value
    const adrt_site *site = nullptr;
    const char *name = nullptr;
    std::deque<std::vector<int64_t>> shapes;
    std::vector<adrt_tensor> values; // in host memory
  };

  struct DoubleBuffer {
    std::unique_ptr<Slot> slots[2];
    unsigned uses = 0;
  };

  Slot &nextSlot(DoubleBuffer &buffer);
  int32_t handOver(Slot &slot);
  /// Enqueues copies of `values` to consecutive parts of the slot.
  Outcome enqueueCopies(Slot &slot, const adrt_tensor *values, int32_t count);

  adrt_context &context;
  Device &device;
  Streams &streams;
  std::map<std::string, DoubleBuffer> feeds, receives;
  std::deque<Slot *> pending;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_TRANSFERS_H
