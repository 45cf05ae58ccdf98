/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "LoopTimes.h"

#include <algorithm>

using namespace adrt;

// The number of runs from one series of trials to the next.
static constexpr uint32_t runsUntilRetrial = 8192, maxDoublings = 4;
// The nanoseconds that a loop may lose, in addition to the time of four runs. A program may have many loops.
static constexpr int64_t maxLost = 200000;

/// The minimum of the estimates that share a record.
static int64_t minEstimate(int64_t estimate) {
  return int64_t(1) << (63 - __builtin_clzll(static_cast<uint64_t>(estimate) | 1));
}

static int64_t scaled(int64_t nanoseconds, int64_t to, int64_t from) {
  return static_cast<int64_t>(static_cast<double>(nanoseconds) * static_cast<double>(to) /
                              static_cast<double>(std::max<int64_t>(from, 1)));
}

static void keepMinimum(std::atomic<int64_t> &minimum, int64_t value) {
  int64_t before = minimum.load(std::memory_order_relaxed);
  if (before == 0 || value < before)
    minimum.store(std::max<int64_t>(value, 1), std::memory_order_relaxed);
}

bool LoopTimes::Record::prefersOneThread() const {
  if (uint32_t count = runs.load(std::memory_order_relaxed); count < trials)
    return count / trialsOfWay != 1;
  int64_t one = alone.load(std::memory_order_relaxed);
  return shared.load(std::memory_order_relaxed) > one - one / 5;
}

void LoopTimes::Record::add(bool onOneThread, int64_t nanoseconds, int64_t estimate) {
  keepMinimum(onOneThread ? alone : shared, scaled(nanoseconds, minEstimate(estimate), estimate));
  runs.fetch_add(1, std::memory_order_relaxed);
}

// Another program that gets a CPU for a time slice delays one run in hundreds, by milliseconds. So losses are
// summed. Earlier savings make up for no more than the maximum loss.
void LoopTimes::Record::addShared(int64_t nanoseconds, int64_t estimate) {
  int64_t one = alone.load(std::memory_order_relaxed), maximum = maxLost + 4 * one;
  int64_t sum =
      lost.load(std::memory_order_relaxed) + scaled(nanoseconds, minEstimate(estimate), estimate) - one;
  lost.store(std::max(sum, -maximum), std::memory_order_relaxed);
  if (sum <= maximum)
    return;
  shared.store(one, std::memory_order_relaxed);
  losses.fetch_add(1, std::memory_order_relaxed);
}

int64_t LoopTimes::Record::nanosecondsOnOneThread(int64_t estimate) const {
  if (isTrying())
    return estimate;
  return scaled(alone.load(std::memory_order_relaxed), estimate, minEstimate(estimate));
}

// The time on one thread is kept: once loops run on several threads, a run on one thread reads from the
// caches of other CPUs. The count of one caller may be lost to another caller: an atomic increment would take
// longer than the rest of this function.
void LoopTimes::Record::skip() {
  uint32_t doublings = std::min(losses.load(std::memory_order_relaxed), maxDoublings);
  uint32_t count = runs.load(std::memory_order_relaxed) + 1;
  runs.store(count, std::memory_order_relaxed);
  if (count < runsUntilRetrial << doublings)
    return;
  if (!prefersOneThread())
    losses.store(0, std::memory_order_relaxed);
  shared.store(0, std::memory_order_relaxed);
  lost.store(0, std::memory_order_relaxed);
  runs.store(0, std::memory_order_relaxed);
}

LoopTimes::Record &LoopTimes::find(uint64_t identity, int64_t nanoseconds, unsigned threads) {
  auto power = static_cast<uint64_t>(64 - __builtin_clzll(static_cast<uint64_t>(nanoseconds) | 1));
  // Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4). The key 0 marks a free
  // record.
  uint64_t key = ((identity * 64 + power) * 2048 + threads) * 0x9e3779b97f4a7c15 | 1;
  unsigned first = static_cast<unsigned>(key >> 32) % size;
  for (unsigned next = 0; next < ways; ++next) {
    Record &record = records[(first + next) % size];
    uint64_t found = record.key.load(std::memory_order_relaxed);
    if (found == key)
      return record;
    if (!found && record.key.compare_exchange_strong(found, key, std::memory_order_relaxed))
      return record;
  }
  Record &record = records[first];
  record.key.store(key, std::memory_order_relaxed);
  record.alone.store(0, std::memory_order_relaxed);
  record.shared.store(0, std::memory_order_relaxed);
  record.lost.store(0, std::memory_order_relaxed);
  record.losses.store(0, std::memory_order_relaxed);
  record.runs.store(0, std::memory_order_relaxed);
  return record;
}
