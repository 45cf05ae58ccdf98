/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Vector clocks. A slot belongs to a thread of the cluster or to the copies that one mbarrier tracks. Most
   threads know the same about all others, so a clock is a shared, immutable vector; a thread's own tick
   stands beside it. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_CLOCK_H
#define ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_CLOCK_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace adsim {

/// A vector of ticks; the empty one knows of nothing. Counted without locks: clocks exist on one host thread.
class Clock {
public:
  Clock() = default;
  explicit Clock(std::vector<uint32_t> ticks) : shared(new Shared{std::move(ticks), 1}) {}
  Clock(const Clock &other) : shared(other.shared) { shared ? void(++shared->references) : void(); }
  Clock(Clock &&other) noexcept : shared(std::exchange(other.shared, nullptr)) {}
  Clock &operator=(Clock other) noexcept {
    std::swap(shared, other.shared);
    return *this;
  }
  ~Clock() {
    if (shared && --shared->references == 0)
      delete shared;
  }

  uint32_t at(uint32_t slot) const { return shared && slot < shared->ticks.size() ? shared->ticks[slot] : 0; }
  bool same(const Clock &other) const { return shared == other.shared; }
  bool empty() const { return !shared; }
  const std::vector<uint32_t> &ticks() const { return shared->ticks; }
  const void *identity() const { return shared; }

private:
  struct Shared {
    std::vector<uint32_t> ticks;
    uint32_t references;
  };
  Shared *shared = nullptr;
};

/// The later of both in every slot. Remembers recent results: the threads of a warp ask the same questions.
class ClockJoiner {
public:
  Clock join(const Clock &a, const Clock &b);
  void clear();

private:
  struct Entry {
    Clock a, b, result;
  };
  static constexpr size_t entries = 64;
  Entry cache[entries];
};

/// What one side of a thread knows: what happened before its next access, or what is also visible to the
/// asynchronous proxy.
struct Knowledge {
  Clock others;
  uint32_t own = 0;

  bool covers(uint32_t self, uint32_t slot, uint32_t tick) const {
    return slot == self ? tick <= own : tick <= others.at(slot);
  }
};

/// Collects what several threads know, e.g. those that arrive at a barrier.
class ClockGather {
public:
  void add(uint32_t slot, const Knowledge &knowledge);
  void add(const Clock &clock);
  void add(uint32_t slot, uint32_t tick) { entries.emplace_back(slot, tick); }
  /// What all of them know together; empties the gather.
  Clock finish();
  void clear() {
    clocks.clear();
    entries.clear();
  }

private:
  std::vector<Clock> clocks;
  std::vector<std::pair<uint32_t, uint32_t>> entries;
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_CLOCK_H
