/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   How knowledge of what has happened passes between threads: through atomics and fences. Barriers do the same
   with gathers. */
#include "../Instructions/Functions.h"
#include "../Memory/Access.h"

using namespace adsim;

Foreign adsim::joinForeign(const Foreign &a, const Foreign &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
  auto joined = std::make_shared<ForeignClocks>(*a);
  ClockJoiner joiner;
  for (const auto &[cluster, clock] : *b) {
    Clock &mine = (*joined)[cluster];
    mine = joiner.join(mine, clock);
  }
  return joined;
}

void adsim::release(Thread &self) { ++self.seen.own; }

void adsim::acquire(Thread &self, const Clock &seen, const Clock &fenced, const Foreign &foreign) {
  ClockJoiner &joiner = self.worker->joiner;
  self.seen.others = joiner.join(self.seen.others, seen);
  self.fenced.others = joiner.join(self.fenced.others, fenced);
  self.foreign = joinForeign(self.foreign, foreign);
}

static Clock snapshot(uint32_t slot, const Knowledge &knowledge) {
  ClockGather gather;
  gather.add(slot, knowledge);
  return gather.finish();
}

static void publish(Thread &self, AtomicClock &atomic, const Clock &seen, const Clock &fenced) {
  Worker &worker = *self.worker;
  auto cluster = static_cast<uint32_t>(worker.clusterNumber);
  if (!atomic.seen.empty() && atomic.cluster != cluster) {
    // What the cluster before has published stays known, as a foreign clock.
    auto kept = std::make_shared<ForeignClocks>();
    (*kept)[atomic.cluster] = atomic.seen;
    atomic.foreign = joinForeign(atomic.foreign, kept);
    atomic.seen = atomic.fenced = Clock();
  }
  atomic.cluster = cluster;
  atomic.seen = worker.joiner.join(atomic.seen, seen);
  atomic.fenced = worker.joiner.join(atomic.fenced, fenced);
  atomic.foreign = joinForeign(atomic.foreign, self.foreign);
}

void adsim::synchronizeAtomic(Thread &self, const void *pointer, uint32_t flags) {
  Worker &worker = *self.worker;
  AtomicClock &atomic = worker.atomicClocks[reinterpret_cast<uint64_t>(pointer)];
  bool same = atomic.cluster == worker.clusterNumber;
  Foreign foreign = atomic.foreign;
  if (!same && !atomic.seen.empty()) {
    auto other = std::make_shared<ForeignClocks>();
    (*other)[atomic.cluster] = atomic.seen;
    foreign = joinForeign(foreign, other);
  }
  Clock seen = same ? atomic.seen : Clock();
  if (flags & AccessAcquire) {
    acquire(self, seen, same ? atomic.fenced : Clock(), foreign);
  } else { // a fence may follow
    self.pendingSeen = worker.joiner.join(self.pendingSeen, seen);
    self.pendingForeign = joinForeign(self.pendingForeign, foreign);
  }
  if (!(flags & AccessWrite))
    return;
  if (flags & AccessRelease) {
    publish(self, atomic, snapshot(self.slot, self.seen), snapshot(self.slot, self.fenced));
    release(self);
  } else if (self.released) {
    publish(self, atomic, self.releaseSeen, Clock());
  }
}

void adsim_fence(Thread *self, uint32_t kind, uint32_t) {
  Worker &worker = *self->worker;
  if (!worker.races)
    return;
  if (static_cast<FenceKind>(kind) == FenceKind::ProxyAsync) {
    self->fenced.others = worker.joiner.join(self->fenced.others, self->seen.others);
    self->fenced.own = self->seen.own;
  } else {
    acquire(*self, self->pendingSeen, Clock(), self->pendingForeign);
    self->pendingSeen = Clock();
    self->pendingForeign = nullptr;
    self->releaseSeen = snapshot(self->slot, self->seen);
    self->released = true;
  }
  release(*self);
}
