/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Warp-synchronous instructions: shuffles, votes, matches, reductions. */
#include "../Functions.h"
#include "../Memory/MemoryOrder.h"
#include "../Synchronization/Rendezvous.h"

#include <cmath>
#include <cstring>

using namespace adsim;

namespace {

template <typename T> T &input(const Rendezvous &rendezvous, uint32_t lane) {
  return *static_cast<T *>(rendezvous.inputs[lane]);
}
template <typename T> T &output(const Rendezvous &rendezvous, uint32_t lane) {
  return *static_cast<T *>(rendezvous.outputs[lane]);
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

/// The source lane of `lane`. If the source is outside of the segment, `lane` itself, and `valid` is false.
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

void shuffle(Thread &self, const Rendezvous &rendezvous, uint32_t site) {
  forLanes(rendezvous.present, [&](uint32_t lane) {
    const auto &in = input<ShuffleInput>(rendezvous, lane);
    bool valid = false;
    uint32_t source = shuffleSource(lane, in, valid);
    if (!(rendezvous.present >> source & 1)) {
      self.worker->fail(Failure::Divergence, self, site,
                        "lane " + std::to_string(lane) + " reads from lane " + std::to_string(source) +
                            ", which does not participate");
      return;
    }
    output<ShuffleOutput>(rendezvous, lane) = {input<ShuffleInput>(rendezvous, source).value, valid};
  });
}

uint32_t ballot(const Rendezvous &rendezvous) {
  uint32_t votes = 0;
  forLanes(rendezvous.present,
           [&](uint32_t lane) { votes |= (input<uint32_t>(rendezvous, lane) != 0 ? 1u : 0u) << lane; });
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
  collective(*self, mask, "shfl.sync", site, &in, &out, [&](const Rendezvous &rendezvous) {
    ++self->worker->statistics.shuffles;
    shuffle(*self, rendezvous, site);
  });
  if (valid)
    *valid = out.valid;
  return out.value;
}

uint32_t adsim_vote(Thread *self, uint32_t mask, uint32_t predicate, uint32_t kind, uint32_t site) {
  uint32_t out = 0;
  collective(*self, mask, "vote.sync", site, &predicate, &out, [&](const Rendezvous &rendezvous) {
    uint32_t result = decideVote(ballot(rendezvous), rendezvous.present, kind);
    forLanes(rendezvous.present, [&](uint32_t lane) { output<uint32_t>(rendezvous, lane) = result; });
  });
  return out;
}

uint32_t adsim_match(Thread *self, uint32_t mask, uint64_t value, uint32_t all, uint32_t *equal,
                     uint32_t site) {
  uint32_t out = 0;
  collective(*self, mask, "match.sync", site, &value, &out, [&](const Rendezvous &rendezvous) {
    forLanes(rendezvous.present, [&](uint32_t lane) {
      uint32_t same = 0;
      forLanes(rendezvous.present, [&](uint32_t other) {
        same |= (input<uint64_t>(rendezvous, other) == input<uint64_t>(rendezvous, lane) ? 1u : 0u) << other;
      });
      output<uint32_t>(rendezvous, lane) = !all || same == rendezvous.present ? same : 0;
    });
  });
  if (equal)
    *equal = out != 0;
  return out;
}

uint32_t adsim_redux(Thread *self, uint32_t mask, uint32_t value, uint32_t kind, uint32_t absolute,
                     uint32_t nan, uint32_t site) {
  uint32_t in = absolute ? asBits(std::fabs(asFloat(value))) : value, out = 0;
  collective(*self, mask, "redux.sync", site, &in, &out, [&](const Rendezvous &rendezvous) {
    auto first = static_cast<uint32_t>(__builtin_ctz(rendezvous.present));
    uint32_t result = input<uint32_t>(rendezvous, first);
    forLanes(rendezvous.present & ~(1u << first), [&](uint32_t lane) {
      result = reduceTwo(result, input<uint32_t>(rendezvous, lane), kind, nan);
    });
    forLanes(rendezvous.present, [&](uint32_t lane) { output<uint32_t>(rendezvous, lane) = result; });
  });
  return out;
}

uint32_t adsim_elect(Thread *self, uint32_t mask, uint32_t site) {
  uint32_t in = 0, out = 0;
  collective(*self, mask, "elect.sync", site, &in, &out, [&](const Rendezvous &rendezvous) {
    output<uint32_t>(rendezvous, static_cast<uint32_t>(__builtin_ctz(rendezvous.present))) = 1;
  });
  return out;
}

void adsim_warp_sync(Thread *self, uint32_t mask, uint32_t site) {
  Worker &worker = *self->worker;
  collective(*self, mask, "bar.warp.sync", site, self, nullptr, [&](const Rendezvous &rendezvous) {
    if (!worker.races)
      return;
    Exchange exchange;
    forLanes(rendezvous.present, [&](uint32_t lane) { exchange.add(input<Thread>(rendezvous, lane)); });
    VectorClock genericClock = exchange.genericClock.finish(), asyncClock = exchange.asyncClock.finish();
    forLanes(rendezvous.present, [&](uint32_t lane) {
      release(input<Thread>(rendezvous, lane));
      acquire(input<Thread>(rendezvous, lane), genericClock, asyncClock, exchange.clusterClocks);
    });
  });
}
