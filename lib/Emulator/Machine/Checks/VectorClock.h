/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Vector clocks. A slot belongs to a thread of the cluster, or to the copies that one mbarrier tracks. Most
   threads have the same ticks for all other threads, so these ticks are one shared, immutable vector. The
   thread's own tick is stored separately. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_VECTORCLOCK_H
#define ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_VECTORCLOCK_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace adsim {

/// A vector of ticks; the empty one has no events. References are counted without atomics: a clock exists on
/// one host thread.
class VectorClock {
public:
  VectorClock() = default;
  explicit VectorClock(std::vector<uint32_t> ticks) : shared(new Shared{std::move(ticks), 1}) {}
  VectorClock(const VectorClock &other) : shared(other.shared) {
    shared ? void(++shared->references) : void();
  }
  VectorClock(VectorClock &&other) noexcept : shared(std::exchange(other.shared, nullptr)) {}
  VectorClock &operator=(VectorClock other) noexcept {
    std::swap(shared, other.shared);
    return *this;
  }
  ~VectorClock() {
    if (shared && --shared->references == 0)
      delete shared;
  }

  uint32_t at(uint32_t slot) const { return shared && slot < shared->ticks.size() ? shared->ticks[slot] : 0; }
  bool same(const VectorClock &other) const { return shared == other.shared; }
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

/// The maximum of both in every slot. Recent results are cached, since the threads of a warp join the same
/// clocks.
class ClockJoiner {
public:
  VectorClock join(const VectorClock &a, const VectorClock &b);
  void clear();

private:
  struct Entry {
    VectorClock a, b, result;
  };
  static constexpr size_t entries = 64;
  Entry cache[entries];
};

/// The vector clock of a thread, with its own tick apart.
struct ThreadClock {
  VectorClock others;
  uint32_t own = 0;

  bool covers(uint32_t self, uint32_t slot, uint32_t tick) const {
    return slot == self ? tick <= own : tick <= others.at(slot);
  }
};

/// Collects the clocks of several threads, e.g. those that arrive at a barrier.
class ClockCollector {
public:
  void add(uint32_t slot, const ThreadClock &clock);
  void add(const VectorClock &clock);
  void add(uint32_t slot, uint32_t tick) { entries.emplace_back(slot, tick); }
  /// The join of all of them; empties the collector.
  VectorClock finish();
  void clear() {
    clocks.clear();
    entries.clear();
  }

private:
  std::vector<VectorClock> clocks;
  std::vector<std::pair<uint32_t, uint32_t>> entries;
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_VECTORCLOCK_H
