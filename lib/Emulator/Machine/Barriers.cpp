/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Barriers of a CTA, numbered 0 to 15, and the barrier of the cluster. */
#include "Barriers.h"
#include "Functions.h"

using namespace adsim;

namespace {

constexpr const char *clusterWait = "the barrier of the cluster";

/// Lanes of the member's warp that have arrived too.
uint32_t lanesAt(const Barrier &barrier, const Warp *warp) {
  uint32_t lanes = 0;
  for (const Barrier::Member &member : barrier.members)
    if (member.thread->warp == warp)
      lanes |= 1u << member.thread->lane;
  return lanes;
}

std::string barrierText(uint32_t id) { return "barrier " + std::to_string(id); }

/// All lanes of a warp have to execute the same barrier instruction. `by` is the thread to blame.
bool checkConvergence(Barrier &barrier, uint32_t id, Thread &by) {
  const Warp *checked = nullptr;
  for (const Barrier::Member &member : barrier.members) {
    if (member.thread->warp == checked)
      continue;
    checked = member.thread->warp;
    uint32_t missing = checked->lanes & ~lanesAt(barrier, checked);
    if (!missing)
      continue;
    by.worker->fail(Failure::BarrierDivergence, *member.thread, member.site,
                    "only " + std::to_string(__builtin_popcount(checked->lanes & ~missing)) + " of " +
                        std::to_string(__builtin_popcount(checked->lanes)) + " lanes of the warp arrive at " +
                        barrierText(id) + "; lane " + std::to_string(__builtin_ctz(missing)) +
                        (checked->exited & missing ? " has left the kernel" : " does not"));
    return false;
  }
  return true;
}

void exchangeKnowledge(Barrier &barrier) {
  Clock seen = barrier.seen.finish(), fenced = barrier.fenced.finish();
  Foreign foreign;
  for (const Foreign &each : barrier.foreign)
    foreign = joinForeign(foreign, each);
  barrier.foreign.clear();
  for (const Barrier::Member &member : barrier.members)
    if (member.waits)
      acquire(*member.thread, seen, fenced, foreign);
}

void contribute(Barrier &barrier, Thread &self) {
  barrier.seen.add(self.slot, self.seen);
  barrier.fenced.add(self.slot, self.fenced);
  if (self.foreign)
    barrier.foreign.push_back(self.foreign);
}

/// Lets the waiting threads go. The one that runs is not among those made ready.
void complete(Barrier &barrier, Worker &worker, Thread *running) {
  if (worker.races)
    exchangeKnowledge(barrier);
  for (const Barrier::Member &member : barrier.members) {
    if (!member.waits)
      continue;
    member.thread->barrierResult = barrier.reduced;
    if (member.thread != running)
      worker.makeReady(*member.thread);
  }
  barrier.members.clear();
  barrier.reduced = 0;
  barrier.expected = 0;
}

bool isComplete(const Barrier &barrier, const Cta &cta) {
  return barrier.members.size() >= (barrier.expected ? barrier.expected : cta.live);
}

/// A thread learns at its wait, or at once when it has not come that far: too early, but never wrong about
/// what the others did before they arrived.
void completeCluster(Worker &worker) {
  Barrier &barrier = worker.clusterBarrier;
  ++worker.clusterPhase;
  if (worker.races)
    exchangeKnowledge(barrier);
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
  for (const Barrier::Member &member : barrier.members) {
    if (member.thread->warp == self.warp && member.site != site)
      worker.fail(Failure::BarrierDivergence, self, site,
                  "lanes of one warp are at different instructions of " + barrierText(id), member.site,
                  "lane " + std::to_string(member.thread->lane) + " is");
    else if (barrier.expected != threads)
      worker.fail(Failure::InvalidInstruction, self, site,
                  barrierText(id) + " is used for " + std::to_string(threads) + " threads and for " +
                      std::to_string(barrier.expected) + " at the same time",
                  member.site, "the other use stands");
    if (worker.failed)
      return false;
  }
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
  if (!checkConvergence(barrier, id, *self))
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
  if (!checkConvergence(barrier, id, *self))
    worker.leave(*self);
  complete(barrier, worker, self);
}

void adsim::barriersAfterExit(Thread &self) {
  Worker &worker = *self.worker;
  for (uint32_t id = 0; id < 16; ++id) {
    Barrier &barrier = self.cta->barriers[id];
    if (barrier.members.empty() || barrier.expected || !isComplete(barrier, *self.cta))
      continue;
    if (checkConvergence(barrier, id, self))
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
    release(*self);
  }
  // All that arrive learn from the others; those that already wait are woken.
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
