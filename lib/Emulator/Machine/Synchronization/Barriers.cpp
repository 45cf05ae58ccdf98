/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Named barriers 0 to 15 of a CTA, and the barrier of the cluster. */
#include "Barriers.h"
#include "../Functions.h"
#include "../Memory/MemoryOrder.h"

#include <algorithm>

using namespace adsim;

namespace {

constexpr const char *clusterWait = "the barrier of the cluster";

std::string barrierText(uint32_t id) { return "barrier " + std::to_string(id); }

const Thread &firstOf(const Barrier &barrier, const Warp &warp) {
  for (const Barrier::Member &member : barrier.members)
    if (member.thread->warp == &warp)
      return *member.thread;
  return *barrier.members.front().thread;
}

/// All lanes of a warp have to execute the same barrier instruction.
bool checkConvergence(Worker &worker, const Barrier &barrier, uint32_t id, const Cta &cta) {
  for (uint32_t index = 0; index < cta.warps.size(); ++index) {
    const Warp &warp = cta.warps[index];
    const Barrier::Arrival &arrival = barrier.warps[index];
    uint32_t missing = arrival.lanes ? warp.lanes & ~arrival.lanes : 0;
    if (!missing)
      continue;
    worker.fail(Failure::BarrierDivergence, firstOf(barrier, warp), arrival.site,
                "only " + std::to_string(__builtin_popcount(arrival.lanes)) + " of " +
                    std::to_string(__builtin_popcount(warp.lanes)) + " lanes of the warp arrive at " +
                    barrierText(id) + "; lane " + std::to_string(__builtin_ctz(missing)) +
                    (warp.exited & missing ? " has left the kernel" : " does not"));
    return false;
  }
  return true;
}

void exchangeClocks(Barrier &barrier) {
  VectorClock genericClock = barrier.genericClock.finish(), asyncClock = barrier.asyncClock.finish();
  ClusterClocks clusterClocks;
  for (const ClusterClocks &each : barrier.clusterClocks)
    clusterClocks = joinClusterClocks(clusterClocks, each);
  barrier.clusterClocks.clear();
  for (const Barrier::Member &member : barrier.members)
    if (member.waits)
      acquire(*member.thread, genericClock, asyncClock, clusterClocks);
}

void contribute(Barrier &barrier, Thread &self) {
  barrier.genericClock.add(self.slot, self.genericClock);
  barrier.asyncClock.add(self.slot, self.asyncClock);
  if (self.clusterClocks)
    barrier.clusterClocks.push_back(self.clusterClocks);
}

/// Makes the waiting threads ready, except the running thread.
void complete(Barrier &barrier, Worker &worker, Thread *running) {
  if (worker.races)
    exchangeClocks(barrier);
  for (const Barrier::Member &member : barrier.members) {
    if (!member.waits)
      continue;
    member.thread->barrierResult = barrier.reduced;
    if (member.thread != running)
      worker.makeReady(*member.thread);
  }
  barrier.members.clear();
  std::fill(std::begin(barrier.warps), std::end(barrier.warps), Barrier::Arrival());
  barrier.reduced = 0;
  barrier.expected = 0;
}

bool isComplete(const Barrier &barrier, const Cta &cta) {
  return barrier.members.size() >= (barrier.expected ? barrier.expected : cta.live);
}

/// Every thread that has arrived acquires the clocks here, even if it has not reached its wait. The order is
/// correct, since the clocks only cover accesses before the arrivals; a race between its arrival and its wait
/// is not found.
void completeCluster(Worker &worker) {
  Barrier &barrier = worker.clusterBarrier;
  ++worker.clusterPhase;
  if (worker.races)
    exchangeClocks(barrier);
  for (const Barrier::Member &member : barrier.members)
    if (member.thread->wait.what == clusterWait)
      worker.makeReady(*member.thread);
  barrier.members.clear();
}

bool checkOperands(Thread &self, uint32_t id, uint32_t threads, uint32_t site) {
  Worker &worker = *self.worker;
  if (id >= 16)
    worker.fail(Failure::InvalidInstruction, self, site, barrierText(id) + ", there are 0 to 15");
  else if (threads % warpLanes || threads > worker.state.blockThreads)
    worker.fail(Failure::InvalidInstruction, self, site,
                barrierText(id) + " of " + std::to_string(threads) +
                    " threads, expected a multiple of 32 up to " + std::to_string(worker.state.blockThreads));
  return !worker.failed;
}

bool join(Thread &self, Barrier &barrier, uint32_t id, uint32_t threads, uint32_t site, bool waits) {
  Worker &worker = *self.worker;
  Barrier::Arrival &arrival = barrier.warps[self.index / warpLanes];
  if (arrival.lanes && arrival.site != site)
    worker.fail(Failure::BarrierDivergence, self, site,
                "lanes of one warp are at different instructions of " + barrierText(id), arrival.site,
                "lane " + std::to_string(__builtin_ctz(arrival.lanes)) + " is");
  else if (!barrier.members.empty() && barrier.expected != threads)
    worker.fail(Failure::InvalidInstruction, self, site,
                barrierText(id) + " is used for " + std::to_string(threads) + " threads and for " +
                    std::to_string(barrier.expected) + " at the same time",
                barrier.members.front().site, "the other use is");
  if (worker.failed)
    return false;
  arrival.lanes |= 1u << self.lane;
  arrival.site = site;
  barrier.expected = threads;
  barrier.members.push_back({&self, site, waits});
  ++worker.statistics.barriers;
  if (worker.races) {
    contribute(barrier, self);
    release(self);
  }
  return true;
}

uint32_t reduce(uint32_t reduced, uint32_t arrived, uint32_t kind) {
  switch (static_cast<BarrierReduction>(kind)) {
  case BarrierReduction::And:
    return reduced == arrived;
  case BarrierReduction::Or:
    return reduced != 0;
  default:
    return reduced;
  }
}

} // namespace

uint32_t adsim_barrier(Thread *self, uint32_t id, uint32_t threads, uint32_t reduction, uint32_t predicate,
                       uint32_t site) {
  Worker &worker = *self->worker;
  if (!checkOperands(*self, id, threads, site))
    worker.leave(*self);
  Barrier &barrier = self->cta->barriers[id];
  if (!join(*self, barrier, id, threads, site, /*waits=*/true))
    worker.leave(*self);
  barrier.reduced += predicate != 0;
  if (!isComplete(barrier, *self->cta)) {
    worker.block(*self, "barrier", site, id);
    return self->barrierResult;
  }
  if (!checkConvergence(worker, barrier, id, *self->cta))
    worker.leave(*self);
  barrier.reduced = reduce(barrier.reduced, static_cast<uint32_t>(barrier.members.size()), reduction);
  complete(barrier, worker, self);
  return self->barrierResult;
}

void adsim_barrier_arrive(Thread *self, uint32_t id, uint32_t threads, uint32_t site) {
  Worker &worker = *self->worker;
  if (!checkOperands(*self, id, threads, site))
    worker.leave(*self);
  Barrier &barrier = self->cta->barriers[id];
  if (!join(*self, barrier, id, threads, site, /*waits=*/false))
    worker.leave(*self);
  if (!isComplete(barrier, *self->cta))
    return;
  if (!checkConvergence(worker, barrier, id, *self->cta))
    worker.leave(*self);
  complete(barrier, worker, self);
}

void adsim::completeBarriersAfterExit(Thread &self) {
  Worker &worker = *self.worker;
  for (uint32_t id = 0; id < 16; ++id) {
    Barrier &barrier = self.cta->barriers[id];
    if (barrier.members.empty() || barrier.expected || !isComplete(barrier, *self.cta))
      continue;
    if (checkConvergence(worker, barrier, id, *self.cta))
      complete(barrier, worker, &self);
  }
  Barrier &cluster = worker.clusterBarrier;
  if (!cluster.members.empty() && cluster.members.size() >= worker.clusterLive)
    completeCluster(worker);
}

void adsim_cluster_arrive(Thread *self, uint32_t relaxed, uint32_t site) {
  Worker &worker = *self->worker;
  Barrier &barrier = worker.clusterBarrier;
  if (self->clusterTarget > worker.clusterPhase) {
    worker.fail(Failure::InvalidInstruction, *self, site,
                "a second arrival at the barrier of the cluster without a wait in between");
    worker.leave(*self);
  }
  self->clusterTarget = worker.clusterPhase + 1;
  ++worker.statistics.barriers;
  if (worker.races) {
    if (!relaxed)
      contribute(barrier, *self);
    else if (self->released) // a fence before the relaxed arrival releases
      barrier.genericClock.add(self->releasedClock);
    release(*self);
  }
  barrier.members.push_back({self, site, true});
  if (barrier.members.size() >= worker.clusterLive)
    completeCluster(worker);
}

void adsim_cluster_wait(Thread *self, uint32_t site) {
  Worker &worker = *self->worker;
  if (!self->clusterTarget) {
    worker.fail(Failure::InvalidInstruction, *self, site,
                "a wait at the barrier of the cluster without an arrival");
    worker.leave(*self);
  }
  while (worker.clusterPhase < self->clusterTarget)
    worker.block(*self, clusterWait, site);
}
