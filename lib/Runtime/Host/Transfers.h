/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What programs on a device feed and receive while it computes. Values go through memory of the host that the
   device can copy on its own, and through memory of the device that nothing else uses: the program's tensors
   are read and written by the lane that computes alone. Two places for each name let one value travel while
   the one before is used. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_TRANSFERS_H
#define ADJOINT_LIB_RUNTIME_HOST_TRANSFERS_H

#include "adjoint/Runtime/Host/Context.h"

#include <deque>

namespace adrt {

class Transfers {
public:
  Transfers(adrt_context &context, Device &device) : context(context), device(device) {}

  /// As the services of adrt.h. What is received is handed to the host later, in the order of the calls.
  int32_t feed(const adrt_site *site, const char *name, const adrt_tensor &destination);
  int32_t receive(const adrt_site *site, const char *name, const adrt_tensor *values, int32_t count);

  enum class Wait { No, Yes };
  /// Hands over what has arrived; if it is to wait, all that was received.
  int32_t deliver(Wait wait);

private:
  /// Room for one value on its way.
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
    // The end of what each lane does with this place; null until it is first used.
    std::unique_ptr<Event> computed, transferred;
    bool pending = false; // received, and not handed over
    const adrt_site *site = nullptr;
    const char *name = nullptr;
    std::deque<std::vector<int64_t>> shapes;
    std::vector<adrt_tensor> values; // as the host will see them
  };

  struct Ring {
    std::unique_ptr<Slot> slots[2];
    unsigned turn = 0;
  };

  Slot &nextSlot(Ring &ring);
  int32_t handOver(Slot &slot);
  /// Lays `values` out one after the other in the slot; returns how the copies were asked for.
  Outcome fetch(Slot &slot, const adrt_tensor *values, int32_t count);

  adrt_context &context;
  Device &device;
  std::map<std::string, Ring> feeds, receives;
  std::deque<Slot *> pending;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_TRANSFERS_H
