/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Joining vector clocks. */
#include "Clock.h"

#include <algorithm>

using namespace adsim;

static void raise(std::vector<uint32_t> &ticks, const std::vector<uint32_t> &other) {
  if (ticks.size() < other.size())
    ticks.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    ticks[i] = std::max(ticks[i], other[i]);
}

Clock ClockJoiner::join(const Clock &a, const Clock &b) {
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
  Clock result = ticks == a.ticks() ? a : ticks == b.ticks() ? b : Clock(std::move(ticks));
  entry = {a, b, result};
  return result;
}

void ClockJoiner::clear() {
  for (Entry &entry : cache)
    entry = Entry();
}

void ClockGather::add(const Clock &clock) {
  if (clock.empty())
    return;
  for (const Clock &known : clocks)
    if (known.same(clock))
      return;
  clocks.push_back(clock);
}

void ClockGather::add(uint32_t slot, const Knowledge &knowledge) {
  add(knowledge.others);
  if (knowledge.own)
    entries.emplace_back(slot, knowledge.own);
}

Clock ClockGather::finish() {
  std::vector<uint32_t> ticks;
  for (const Clock &clock : clocks)
    raise(ticks, clock.ticks());
  for (auto [slot, tick] : entries) {
    if (ticks.size() <= slot)
      ticks.resize(slot + 1);
    ticks[slot] = std::max(ticks[slot], tick);
  }
  clear();
  return ticks.empty() ? Clock() : Clock(std::move(ticks));
}
