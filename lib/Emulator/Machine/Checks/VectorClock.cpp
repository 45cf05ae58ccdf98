/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Joining vector clocks. */
#include "VectorClock.h"

#include <algorithm>

using namespace adsim;

static void raise(std::vector<uint32_t> &ticks, const std::vector<uint32_t> &other) {
  if (ticks.size() < other.size())
    ticks.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    ticks[i] = std::max(ticks[i], other[i]);
}

VectorClock ClockJoiner::join(const VectorClock &a, const VectorClock &b) {
  if (b.empty() || a.same(b))
    return a;
  if (a.empty())
    return b;
  auto hash = reinterpret_cast<uintptr_t>(a.identity()) * 31 + reinterpret_cast<uintptr_t>(b.identity());
  Entry &entry = cache[(hash >> 5) % entries];
  // The entry's own references keep both vectors alive, so that no other can have taken their address.
  if (entry.a.same(a) && entry.b.same(b))
    return entry.result;
  std::vector<uint32_t> ticks = a.ticks();
  raise(ticks, b.ticks());
  VectorClock result = ticks == a.ticks() ? a : ticks == b.ticks() ? b : VectorClock(std::move(ticks));
  entry = {a, b, result};
  return result;
}

void ClockJoiner::clear() {
  for (Entry &entry : cache)
    entry = Entry();
}

void ClockCollector::add(const VectorClock &clock) {
  if (clock.empty())
    return;
  for (const VectorClock &known : clocks)
    if (known.same(clock))
      return;
  clocks.push_back(clock);
}

void ClockCollector::add(uint32_t slot, const ThreadClock &clock) {
  add(clock.others);
  if (clock.own)
    entries.emplace_back(slot, clock.own);
}

VectorClock ClockCollector::finish() {
  std::vector<uint32_t> ticks;
  for (const VectorClock &clock : clocks)
    raise(ticks, clock.ticks());
  for (auto [slot, tick] : entries) {
    if (ticks.size() <= slot)
      ticks.resize(slot + 1);
    ticks[slot] = std::max(ticks[slot], tick);
  }
  clear();
  return ticks.empty() ? VectorClock() : VectorClock(std::move(ticks));
}
