/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Threads that leave the kernel, and the report of a deadlock. */
#include "Deadlock.h"
#include "../Synchronization/Barriers.h"

#include <tuple>

using namespace adsim;

void adsim::exitThread(Thread &self) {
  Worker &worker = *self.worker;
  self.done = true;
  --self.cta->live;
  --worker.clusterLive;
  self.warp->exited |= 1u << self.lane;
  completeBarriersAfterExit(self);
  // A rendezvous that waited for this lane may be complete now.
  for (const auto &rendezvous : self.warp->rendezvousPoints)
    if (rendezvous->present && (rendezvous->mask >> self.lane & 1))
      worker.makeReady(*rendezvous->members.front());
}

namespace {

/// Threads that wait at the same site for the same event.
struct Group {
  const Thread *first = nullptr;
  uint32_t count = 0;
};

std::string waitText(const Worker &worker, const Wait &wait) {
  std::string text = wait.what;
  if (text == "barrier")
    text += " " + std::to_string(wait.detail);
  if (text != "mbarrier")
    return text;
  text += " at shared memory + " + std::to_string(wait.detail & (sharedWindow - 1));
  const Cta &cta = worker.ctas[wait.detail / sharedWindow];
  for (const MBarrier &barrier : cta.mbarriers)
    if (barrier.offset == (wait.detail & (sharedWindow - 1)))
      text += " (phase " + std::to_string(barrier.phase) + " lacks " + std::to_string(barrier.pendingCount) +
              " of " + std::to_string(barrier.expectedCount) + " arrivals and " +
              std::to_string(barrier.txCount) + " bytes)";
  return text;
}

/// A lane that waits at a warp-synchronous instruction while another lane of the warp waits at another site.
const Thread *findDiverged(const Worker &worker, const Thread *&other) {
  for (uint32_t slot = 0; slot < worker.state.clusterThreads; ++slot) {
    const Thread &thread = worker.threads[slot];
    bool together = thread.wait.what && (thread.wait.ofWarp || std::string(thread.wait.what) == "barrier");
    if (thread.done || !together)
      continue;
    for (uint32_t lane = 0; lane < warpLanes; ++lane) {
      const Thread &mate = worker.threads[slot - thread.lane + lane];
      if (!(thread.warp->lanes >> lane & 1) || mate.done || mate.wait.site == thread.wait.site)
        continue;
      other = &mate;
      return &thread;
    }
  }
  return nullptr;
}

std::string listWaits(const Worker &worker) {
  std::map<std::tuple<std::string, uint32_t, uint64_t>, Group> groups;
  for (uint32_t slot = 0; slot < worker.state.clusterThreads; ++slot) {
    const Thread &thread = worker.threads[slot];
    if (thread.done)
      continue;
    Group &group = groups[{thread.wait.what, thread.wait.site, thread.wait.detail}];
    group.first = group.first ? group.first : &thread;
    ++group.count;
  }
  std::string text;
  for (const auto &[key, group] : groups) {
    text += text.empty() ? "" : "; ";
    text += std::to_string(group.count) + " wait for " + waitText(worker, group.first->wait) +
            " (first: rank " + std::to_string(group.first->cta->rank) + ", thread " +
            describeThread(*group.first) + ")";
    uint32_t site = std::get<1>(key);
    if (site < worker.state.code.siteCount)
      text += std::string(" at ") + worker.state.code.site(site).location;
  }
  return text;
}

} // namespace

Deadlock adsim::explainDeadlock(const Worker &worker) {
  Deadlock result;
  const Thread *other = nullptr;
  if (const Thread *diverged = findDiverged(worker, other)) {
    bool barrier = std::string(diverged->wait.what) == "barrier";
    result.failure = barrier ? Failure::BarrierDivergence : Failure::Divergence;
    result.thread = diverged;
    result.text = "lanes of one warp wait for each other at different instructions: this one for " +
                  waitText(worker, diverged->wait);
    result.otherSite = other->wait.site;
    result.otherText = "lane " + std::to_string(other->lane) + " waits for " + waitText(worker, other->wait);
    return result;
  }
  for (uint32_t slot = 0; !result.thread; ++slot)
    if (!worker.threads[slot].done)
      result.thread = &worker.threads[slot];
  result.text =
      std::to_string(worker.clusterLive) + " threads are left and none can go on: " + listWaits(worker);
  return result;
}
