/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Release and acquire by atomics and fences. Barriers use the same functions with the collected clocks of the
   threads that arrive. */
#include "MemoryOrder.h"
#include "../Functions.h"

using namespace adsim;

ClusterClocks adsim::joinClusterClocks(const ClusterClocks &a, const ClusterClocks &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
  auto joined = std::make_shared<ClusterClockMap>(*a);
  ClockJoiner joiner;
  for (const auto &[cluster, clock] : *b) {
    VectorClock &mine = (*joined)[cluster];
    mine = joiner.join(mine, clock);
  }
  return joined;
}

void adsim::release(Thread &self) { ++self.genericClock.own; }

void adsim::acquire(Thread &self, const VectorClock &genericClock, const VectorClock &asyncClock,
                    const ClusterClocks &clusterClocks) {
  ClockJoiner &joiner = self.worker->joiner;
  self.genericClock.others = joiner.join(self.genericClock.others, genericClock);
  self.asyncClock.others = joiner.join(self.asyncClock.others, asyncClock);
  self.clusterClocks = joinClusterClocks(self.clusterClocks, clusterClocks);
}

void Exchange::add(const Thread &thread) {
  genericClock.add(thread.slot, thread.genericClock);
  asyncClock.add(thread.slot, thread.asyncClock);
  clusterClocks = joinClusterClocks(clusterClocks, thread.clusterClocks);
}

static VectorClock snapshot(uint32_t slot, const ThreadClock &clock) {
  ClockCollector collector;
  collector.add(slot, clock);
  return collector.finish();
}

static void publish(Thread &self, AtomicClock &atomic, const VectorClock &genericClock,
                    const VectorClock &asyncClock) {
  Worker &worker = *self.worker;
  auto cluster = static_cast<uint32_t>(worker.clusterNumber);
  if (!atomic.genericClock.empty() && atomic.cluster != cluster) {
    // The clock that the earlier cluster has published moves to the clocks of other clusters.
    auto kept = std::make_shared<ClusterClockMap>();
    (*kept)[atomic.cluster] = atomic.genericClock;
    atomic.clusterClocks = joinClusterClocks(atomic.clusterClocks, kept);
    atomic.genericClock = atomic.asyncClock = VectorClock();
  }
  atomic.cluster = cluster;
  atomic.genericClock = worker.joiner.join(atomic.genericClock, genericClock);
  atomic.asyncClock = worker.joiner.join(atomic.asyncClock, asyncClock);
  atomic.clusterClocks = joinClusterClocks(atomic.clusterClocks, self.clusterClocks);
}

void adsim::synchronizeAtomic(Thread &self, const void *pointer, uint32_t flags) {
  Worker &worker = *self.worker;
  AtomicClock &atomic = worker.atomicClocks[reinterpret_cast<uint64_t>(pointer)];
  bool same = atomic.cluster == worker.clusterNumber;
  ClusterClocks clusterClocks = atomic.clusterClocks;
  if (!same && !atomic.genericClock.empty()) {
    auto other = std::make_shared<ClusterClockMap>();
    (*other)[atomic.cluster] = atomic.genericClock;
    clusterClocks = joinClusterClocks(clusterClocks, other);
  }
  VectorClock genericClock = same ? atomic.genericClock : VectorClock();
  if (flags & AccessAcquire) {
    acquire(self, genericClock, same ? atomic.asyncClock : VectorClock(), clusterClocks);
  } else { // a later fence acquires it
    self.pendingClock = worker.joiner.join(self.pendingClock, genericClock);
    self.pendingClusterClocks = joinClusterClocks(self.pendingClusterClocks, clusterClocks);
  }
  if (!(flags & AccessWrite))
    return;
  if (flags & AccessRelease) {
    publish(self, atomic, snapshot(self.slot, self.genericClock), snapshot(self.slot, self.asyncClock));
    release(self);
  } else if (self.released) {
    publish(self, atomic, self.releasedClock, VectorClock());
  }
}

void adsim_fence(Thread *self, uint32_t kind, uint32_t) {
  Worker &worker = *self->worker;
  if (!worker.races)
    return;
  if (static_cast<FenceKind>(kind) == FenceKind::ProxyAsync) {
    self->asyncClock.others = worker.joiner.join(self->asyncClock.others, self->genericClock.others);
    self->asyncClock.own = self->genericClock.own;
  } else {
    acquire(*self, self->pendingClock, VectorClock(), self->pendingClusterClocks);
    self->pendingClock = VectorClock();
    self->pendingClusterClocks = nullptr;
    self->releasedClock = snapshot(self->slot, self->genericClock);
    self->released = true;
  }
  release(*self);
}
