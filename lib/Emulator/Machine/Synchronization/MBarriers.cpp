/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Mbarriers. A phase completes when its pending count and its transaction count are zero. */
#include "MBarriers.h"
#include "../Functions.h"
#include "../Memory/Access.h"
#include "../Memory/MemoryOrder.h"

using namespace adsim;

namespace {

constexpr uint32_t maxArrivals = (1u << 20) - 1;
constexpr int64_t maxTxCount = (1 << 20) - 1;

std::string barrierText(const MBarrier &barrier) {
  return "the mbarrier at " + std::to_string(barrier.offset);
}

void completePhase(Worker &worker, MBarrier &barrier) {
  if (barrier.pendingCount || barrier.txCount)
    return;
  ++barrier.phase;
  barrier.pendingCount = barrier.expectedCount;
  if (worker.races) {
    if (barrier.tracked) {
      barrier.inCta.genericClock.add(barrier.slot, barrier.phase);
      barrier.inCta.asyncClock.add(barrier.slot, barrier.phase);
    }
    barrier.previousInCta = {barrier.inCta.genericClock.finish(), barrier.inCta.asyncClock.finish()};
    barrier.previousInCluster = {barrier.inCluster.genericClock.finish(),
                                 barrier.inCluster.asyncClock.finish()};
    barrier.previousCompleted = barrier.completed.finish();
    barrier.previousClusterClocks = nullptr;
    for (const ClusterClocks &clusterClocks : barrier.clusterClocks)
      barrier.previousClusterClocks = joinClusterClocks(barrier.previousClusterClocks, clusterClocks);
    barrier.clusterClocks.clear();
  }
  barrier.tracked = false;
  for (Thread *waiter : barrier.waiters)
    worker.makeReady(*waiter);
  barrier.waiters.clear();
}

bool misuse(Thread &self, uint32_t site, const std::string &what, const MBarrier *barrier = nullptr) {
  self.worker->fail(Failure::MBarrierMisuse, self, site, what, barrier ? barrier->initSite : noSite,
                    barrier ? "it was initialised" : "");
  return false;
}

bool expect(Thread &self, MBarrier &barrier, int64_t bytes, uint32_t site) {
  barrier.txCount += bytes;
  if (std::abs(barrier.txCount) <= maxTxCount)
    return true;
  return misuse(self, site,
                barrierText(barrier) + " counts " + std::to_string(barrier.txCount) +
                    " bytes, at most 2^20 - 1 are possible",
                &barrier);
}

/// Checks the operands of mbarrier.init; `slot` is an earlier mbarrier at `offset`, or null.
bool checkInit(Thread &self, uint32_t offset, uint32_t count, const MBarrier *slot, uint32_t site) {
  Worker &worker = *self.worker;
  if (offset % 8)
    misuse(self, site, "initialises an mbarrier at " + std::to_string(offset) + ", expected a multiple of 8");
  else if (offset + 8 > worker.state.sharedBytes)
    worker.fail(Failure::OutOfBounds, self, site,
                "initialises an mbarrier at " + std::to_string(offset) + " of shared memory, which has " +
                    std::to_string(worker.state.sharedBytes) + " bytes");
  else if (!count || count > maxArrivals)
    misuse(self, site,
           "initialises an mbarrier for " + std::to_string(count) + " arrivals, expected 1 to 2^20 - 1");
  else if (slot && slot->valid)
    misuse(self, site, "initialises " + barrierText(*slot) + " again", slot);
  return !worker.failed;
}

/// Whether the initialisation happened before the next access of this thread.
bool isInitializedFor(Thread &self, const MBarrier &barrier, const char *what, uint32_t site) {
  Worker &worker = *self.worker;
  if (!worker.races || self.genericClock.covers(self.slot, barrier.initSlot, barrier.initTick))
    return true;
  worker.fail(Failure::Race, self, site,
              what + (" " + barrierText(barrier)) + ", which is not ordered after its initialisation",
              barrier.initSite, "it was initialised");
  return false;
}

} // namespace

MBarrier *adsim::findMBarrier(Thread &self, const void *pointer, const char *what, uint32_t site) {
  constexpr uint64_t alignment = 8;
  Cta *cta = requireShared(self, pointer, "the mbarrier", site, /*wholeCluster=*/true);
  if (!cta)
    return nullptr;
  auto offset = static_cast<uint32_t>(static_cast<const char *>(pointer) - cta->shared);
  for (MBarrier &barrier : cta->mbarriers)
    if (barrier.offset == offset && barrier.valid)
      return isInitializedFor(self, barrier, what, site) ? &barrier : nullptr;
  if (offset % alignment)
    misuse(self, site,
           std::string(what) + " an mbarrier at " + std::to_string(offset) + ", expected a multiple of 8");
  else
    misuse(self, site,
           std::string(what) + " an mbarrier at " + std::to_string(offset) + ", which is not initialised");
  return nullptr;
}

void adsim::completeTransactions(Worker &worker, MBarrier &barrier, uint32_t bytes) {
  barrier.txCount -= bytes;
  barrier.tracked = true;
  completePhase(worker, barrier);
}

/// The release of an arrival. An arrival from another CTA only orders memory if its scope is the cluster.
/// Every arrival passes on that asynchronous operations are complete, also a relaxed one.
static void releaseAt(Thread &self, MBarrier &barrier, MBarrierScope scope) {
  bool isRemote = self.cta->rank != barrier.rank;
  barrier.completed.add(self.slot, self.genericClock);
  barrier.completed.add(self.completed);
  if (scope == MBarrierScope::Cluster || (scope == MBarrierScope::Cta && !isRemote)) {
    ReleasedClocks &released = isRemote ? barrier.inCluster : barrier.inCta;
    released.genericClock.add(self.slot, self.genericClock);
    released.asyncClock.add(self.slot, self.asyncClock);
    if (self.clusterClocks)
      barrier.clusterClocks.push_back(self.clusterClocks);
  }
  release(self);
}

static void acquireAt(Thread &self, const MBarrier &barrier, MBarrierScope scope) {
  self.completed = self.worker->joiner.join(self.completed, barrier.previousCompleted);
  if (scope != MBarrierScope::Relaxed)
    acquire(self, barrier.previousInCta.genericClock, barrier.previousInCta.asyncClock,
            barrier.previousClusterClocks);
  if (scope == MBarrierScope::Cluster)
    acquire(self, barrier.previousInCluster.genericClock, barrier.previousInCluster.asyncClock,
            barrier.previousClusterClocks);
}

bool adsim::arrive(Thread &self, MBarrier &barrier, uint32_t count, MBarrierScope scope, uint32_t site) {
  Worker &worker = *self.worker;
  if (!count || count > barrier.pendingCount)
    return misuse(self, site,
                  "arrival of " + std::to_string(count) + " at " + barrierText(barrier) + ", whose phase " +
                      std::to_string(barrier.phase) + " expects " + std::to_string(barrier.pendingCount) +
                      " more of " + std::to_string(barrier.expectedCount),
                  &barrier);
  barrier.pendingCount -= count;
  if (worker.races)
    releaseAt(self, barrier, scope);
  completePhase(worker, barrier);
  return true;
}

void adsim_mbarrier_init(Thread *self, const void *pointer, uint32_t count, uint32_t predicate,
                         uint32_t site) {
  if (!predicate)
    return;
  Worker &worker = *self->worker;
  Cta *cta = requireShared(*self, pointer, "the mbarrier", site);
  if (!cta)
    worker.leave(*self);
  auto offset = static_cast<uint32_t>(static_cast<const char *>(pointer) - cta->shared);
  MBarrier *slot = nullptr;
  for (MBarrier &barrier : cta->mbarriers)
    slot = barrier.offset == offset ? &barrier : slot;
  if (!checkInit(*self, offset, count, slot, site) ||
      !accessShared(*cta, offset, 8, Accessor(*self, site, RecordWrite)))
    worker.leave(*self);
  if (!slot) {
    cta->mbarriers.emplace_back();
    slot = &cta->mbarriers.back();
  }
  *slot = MBarrier();
  slot->offset = offset;
  slot->initSite = site;
  slot->initSlot = self->slot;
  slot->initTick = self->genericClock.own;
  slot->slot = worker.nextSlot++;
  slot->rank = cta->rank;
  slot->expectedCount = count;
  slot->pendingCount = count;
  cta->written.clear(offset, 8);
  cta->barrierBytes.set(offset, 8);
}

void adsim_mbarrier_inval(Thread *self, const void *pointer, uint32_t site) {
  MBarrier *barrier = findMBarrier(*self, pointer, "invalidates", site);
  if (!barrier)
    self->worker->leave(*self);
  barrier->valid = false;
  self->cta->barrierBytes.clear(barrier->offset, 8);
}

void adsim_mbarrier_expect(Thread *self, const void *pointer, uint32_t bytes, uint32_t site) {
  MBarrier *barrier = findMBarrier(*self, pointer, "expects bytes at", site);
  if (!barrier || !expect(*self, *barrier, bytes, site))
    self->worker->leave(*self);
  completePhase(*self->worker, *barrier);
}

void adsim_mbarrier_complete(Thread *self, const void *pointer, uint32_t bytes, uint32_t site) {
  MBarrier *barrier = findMBarrier(*self, pointer, "completes bytes at", site);
  if (!barrier || !expect(*self, *barrier, -static_cast<int64_t>(bytes), site))
    self->worker->leave(*self);
  completePhase(*self->worker, *barrier);
}

uint64_t adsim_mbarrier_arrive(Thread *self, const void *pointer, uint32_t count, uint32_t bytes,
                               uint32_t drop, uint32_t scope, uint32_t predicate, uint32_t site) {
  if (!predicate)
    return 0;
  Worker &worker = *self->worker;
  MBarrier *barrier = findMBarrier(*self, pointer, "arrives at", site);
  if (!barrier)
    worker.leave(*self);
  uint64_t phase = barrier->phase;
  if (bytes && !expect(*self, *barrier, bytes, site))
    worker.leave(*self);
  if (drop)
    barrier->expectedCount -= std::min(barrier->expectedCount, count);
  if (!arrive(*self, *barrier, count, static_cast<MBarrierScope>(scope), site))
    worker.leave(*self);
  return phase;
}

uint32_t adsim_mbarrier_wait(Thread *self, const void *pointer, uint64_t phase, uint32_t byParity,
                             uint32_t kind, uint32_t scope, uint32_t site) {
  Worker &worker = *self->worker;
  ++worker.statistics.mbarrierPolls;
  MBarrier *barrier = findMBarrier(*self, pointer, "waits at", site);
  if (!barrier)
    worker.leave(*self);
  auto done = [&] { return byParity ? (barrier->phase & 1) != (phase & 1) : barrier->phase != phase; };
  auto mode = static_cast<WaitKind>(kind);
  // After an unsuccessful test_wait, or a try_wait that times out, the thread continues when the other
  // threads have run.
  constexpr uint64_t timeoutEvery = 8, landEvery = 16;
  bool yields = mode == WaitKind::Test ||
                (mode == WaitKind::Try && worker.state.launch.schedule == Schedule::Shuffled &&
                 worker.random.below(timeoutEvery) == 0);
  if (!done() && yields) {
    if (worker.statistics.mbarrierPolls % landEvery == 0)
      worker.landOneCopy();
    worker.makeReady(*self);
    worker.block(*self, "mbarrier", site, self->cta->rank * sharedWindow + barrier->offset);
  }
  while (!done() && !yields && !worker.failed) {
    barrier->waiters.push_back(self);
    auto distance = static_cast<uint64_t>(static_cast<const char *>(pointer) - worker.ctas[0].shared);
    worker.block(*self, "mbarrier", site, distance);
  }
  if (worker.failed)
    worker.leave(*self);
  if (!done())
    return 0;
  if (worker.races)
    acquireAt(*self, *barrier, static_cast<MBarrierScope>(scope));
  return 1;
}
