/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Instructions of a warp: shuffles, votes, matches, reductions. */
#include "../Scheduling/Barriers.h"
#include "Functions.h"

#include <cmath>
#include <cstring>

using namespace adsim;

namespace {

template <typename T> T &input(const Meeting &meeting, uint32_t lane) {
  return *static_cast<T *>(meeting.inputs[lane]);
}
template <typename T> T &output(const Meeting &meeting, uint32_t lane) {
  return *static_cast<T *>(meeting.outputs[lane]);
}

template <typename Visit> void forLanes(uint32_t lanes, const Visit &visit) {
  for (; lanes; lanes &= lanes - 1)
    visit(static_cast<uint32_t>(__builtin_ctz(lanes)));
}

struct ShuffleInput {
  uint32_t value, offset, clamp, kind;
};
struct ShuffleOutput {
  uint32_t value, valid;
};

/// The lane that `lane` reads from; itself, and not valid, where the segment ends before.
uint32_t shuffleSource(uint32_t lane, const ShuffleInput &in, bool &valid) {
  uint32_t clamp = in.clamp & 31, segment = in.clamp >> 8 & 31, offset = in.offset & 31;
  uint32_t last = (lane & segment) | (clamp & ~segment);
  uint32_t source = lane;
  switch (static_cast<ShuffleKind>(in.kind)) {
  case ShuffleKind::Up:
    valid = static_cast<int32_t>(lane - offset) >= static_cast<int32_t>(last);
    source = lane - offset;
    break;
  case ShuffleKind::Down:
    source = lane + offset;
    valid = source <= last;
    break;
  case ShuffleKind::Xor:
    source = lane ^ offset;
    valid = source <= last;
    break;
  case ShuffleKind::Index:
    source = (lane & segment) | (offset & ~segment & 31);
    valid = source <= last;
    break;
  }
  return valid ? source : lane;
}

void shuffle(Thread &self, const Meeting &meeting, uint32_t site) {
  forLanes(meeting.present, [&](uint32_t lane) {
    const auto &in = input<ShuffleInput>(meeting, lane);
    bool valid = false;
    uint32_t source = shuffleSource(lane, in, valid);
    if (!(meeting.present >> source & 1)) {
      self.worker->fail(Failure::Divergence, self, site,
                        "lane " + std::to_string(lane) + " reads from lane " + std::to_string(source) +
                            ", which takes no part");
      return;
    }
    output<ShuffleOutput>(meeting, lane) = {input<ShuffleInput>(meeting, source).value, valid};
  });
}

uint32_t ballot(const Meeting &meeting) {
  uint32_t votes = 0;
  forLanes(meeting.present,
           [&](uint32_t lane) { votes |= (input<uint32_t>(meeting, lane) != 0 ? 1u : 0u) << lane; });
  return votes;
}

uint32_t decideVote(uint32_t votes, uint32_t present, uint32_t kind) {
  switch (static_cast<VoteKind>(kind)) {
  case VoteKind::Any:
    return votes != 0;
  case VoteKind::All:
    return votes == present;
  case VoteKind::Uniform:
    return votes == 0 || votes == present;
  case VoteKind::Ballot:
    break;
  }
  return votes;
}

float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

uint32_t reduceFloats(uint32_t a, uint32_t b, bool smaller, bool nan) {
  constexpr uint32_t canonicalNaN = 0x7fffffff;
  float x = asFloat(a), y = asFloat(b);
  if (std::isnan(x) || std::isnan(y)) {
    if (nan || (std::isnan(x) && std::isnan(y)))
      return canonicalNaN;
    return std::isnan(x) ? b : a;
  }
  // -0 is less than +0.
  bool less = x < y || (x == y && std::signbit(x));
  return less == smaller ? a : b;
}

uint32_t reduceTwo(uint32_t a, uint32_t b, uint32_t kind, bool nan) {
  auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  switch (static_cast<ReduxKind>(kind)) {
  case ReduxKind::Add:
    return a + b;
  case ReduxKind::And:
    return a & b;
  case ReduxKind::Or:
    return a | b;
  case ReduxKind::Xor:
    return a ^ b;
  case ReduxKind::Min:
    return x < y ? a : b;
  case ReduxKind::Max:
    return x > y ? a : b;
  case ReduxKind::UMin:
    return a < b ? a : b;
  case ReduxKind::UMax:
    return a > b ? a : b;
  case ReduxKind::FMin:
    return reduceFloats(a, b, /*smaller=*/true, nan);
  case ReduxKind::FMax:
    return reduceFloats(a, b, /*smaller=*/false, nan);
  }
  return 0;
}

} // namespace

uint32_t adsim_shuffle(Thread *self, uint32_t mask, uint32_t value, uint32_t offset, uint32_t clamp,
                       uint32_t kind, uint32_t *valid, uint32_t site) {
  ShuffleInput in{value, offset, clamp, kind};
  ShuffleOutput out{};
  collective(*self, mask, "shfl.sync", site, &in, &out, [&](const Meeting &meeting) {
    ++self->worker->statistics.shuffles;
    shuffle(*self, meeting, site);
  });
  if (valid)
    *valid = out.valid;
  return out.value;
}

uint32_t adsim_vote(Thread *self, uint32_t mask, uint32_t predicate, uint32_t kind, uint32_t site) {
  uint32_t out = 0;
  collective(*self, mask, "vote.sync", site, &predicate, &out, [&](const Meeting &meeting) {
    uint32_t result = decideVote(ballot(meeting), meeting.present, kind);
    forLanes(meeting.present, [&](uint32_t lane) { output<uint32_t>(meeting, lane) = result; });
  });
  return out;
}

uint32_t adsim_match(Thread *self, uint32_t mask, uint64_t value, uint32_t all, uint32_t *equal,
                     uint32_t site) {
  uint32_t out = 0;
  collective(*self, mask, "match.sync", site, &value, &out, [&](const Meeting &meeting) {
    forLanes(meeting.present, [&](uint32_t lane) {
      uint32_t same = 0;
      forLanes(meeting.present, [&](uint32_t other) {
        same |= (input<uint64_t>(meeting, other) == input<uint64_t>(meeting, lane) ? 1u : 0u) << other;
      });
      output<uint32_t>(meeting, lane) = !all || same == meeting.present ? same : 0;
    });
  });
  if (equal)
    *equal = out != 0;
  return out;
}

uint32_t adsim_redux(Thread *self, uint32_t mask, uint32_t value, uint32_t kind, uint32_t absolute,
                     uint32_t nan, uint32_t site) {
  uint32_t in = absolute ? asBits(std::fabs(asFloat(value))) : value, out = 0;
  collective(*self, mask, "redux.sync", site, &in, &out, [&](const Meeting &meeting) {
    auto first = static_cast<uint32_t>(__builtin_ctz(meeting.present));
    uint32_t result = input<uint32_t>(meeting, first);
    forLanes(meeting.present & ~(1u << first),
             [&](uint32_t lane) { result = reduceTwo(result, input<uint32_t>(meeting, lane), kind, nan); });
    forLanes(meeting.present, [&](uint32_t lane) { output<uint32_t>(meeting, lane) = result; });
  });
  return out;
}

uint32_t adsim_elect(Thread *self, uint32_t mask, uint32_t site) {
  uint32_t in = 0, out = 0;
  collective(*self, mask, "elect.sync", site, &in, &out, [&](const Meeting &meeting) {
    output<uint32_t>(meeting, static_cast<uint32_t>(__builtin_ctz(meeting.present))) = 1;
  });
  return out;
}

void adsim_warp_sync(Thread *self, uint32_t mask, uint32_t site) {
  Worker &worker = *self->worker;
  collective(*self, mask, "bar.warp.sync", site, self, nullptr, [&](const Meeting &meeting) {
    if (!worker.races)
      return;
    Exchange exchange;
    forLanes(meeting.present, [&](uint32_t lane) { exchange.add(input<Thread>(meeting, lane)); });
    Clock seen = exchange.seen.finish(), fenced = exchange.fenced.finish();
    forLanes(meeting.present, [&](uint32_t lane) {
      release(input<Thread>(meeting, lane));
      acquire(input<Thread>(meeting, lane), seen, fenced, exchange.foreign);
    });
  });
}

//===- Meetings -----------------------------------------------------------===//

void Exchange::add(const Thread &thread) {
  seen.add(thread.slot, thread.seen);
  fenced.add(thread.slot, thread.fenced);
  foreign = joinForeign(foreign, thread.foreign);
}

Meeting &adsim::warpMeeting(Thread &self, uint32_t mask, const char *what, uint32_t site) {
  Worker &worker = *self.worker;
  if (!(mask >> self.lane & 1)) {
    worker.fail(Failure::Divergence, self, site,
                std::string(what) + " by lane " + std::to_string(self.lane) + ", which its mask leaves out");
    worker.leave(self);
  }
  Meeting *free = nullptr;
  for (const auto &meeting : self.warp->meetings) {
    if (meeting->present ? meeting->mask == mask : meeting->mask == mask || !free)
      free = meeting.get();
    if (meeting->present && meeting->mask == mask)
      return *meeting;
    if (meeting->present & mask) {
      worker.fail(Failure::Divergence, self, site,
                  std::string(what) + " with another mask than that of other lanes", meeting->site,
                  "they wait");
      worker.leave(self);
    }
  }
  if (!free || free->present) {
    self.warp->meetings.push_back(std::make_unique<Meeting>());
    free = self.warp->meetings.back().get();
  }
  free->mask = mask;
  return *free;
}

static bool allPresent(const Thread &self, const Meeting &meeting) {
  if (!meeting.mask)
    return meeting.members.size() == warpgroupThreads;
  uint32_t needed = meeting.mask & self.warp->lanes & ~self.warp->exited;
  return (needed & ~meeting.present) == 0;
}

bool adsim::meet(Thread &self, Meeting &meeting, uint32_t index, const char *what, uint32_t site, void *input,
                 void *output) {
  Worker &worker = *self.worker;
  if (!meeting.members.empty() && meeting.site != site) {
    worker.fail(Failure::Divergence, self, site,
                std::string(what) + " while other lanes are at another instruction", meeting.site,
                "they wait");
    worker.leave(self);
  }
  meeting.site = site;
  meeting.inputs[index] = input;
  meeting.outputs[index] = output;
  meeting.members.push_back(&self);
  if (meeting.mask)
    meeting.present |= 1u << index;
  uint32_t generation = meeting.generation;
  while (!allPresent(self, meeting)) {
    worker.block(self, what, site, 0, /*ofWarp=*/true);
    if (meeting.generation != generation)
      return false;
  }
  return true;
}

void adsim::dismiss(Thread &self, Meeting &meeting) {
  for (Thread *member : meeting.members)
    if (member != &self)
      self.worker->makeReady(*member);
  meeting.members.clear();
  meeting.present = 0;
  ++meeting.generation;
}
