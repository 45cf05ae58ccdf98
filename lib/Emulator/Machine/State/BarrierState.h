/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The state of everything that threads arrive and wait at: warp-synchronous instructions, named barriers, the
   cluster barrier and mbarriers. Each of them collects vector clocks of the threads that arrive, and gives
   the joined clocks to the threads that wait. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_BARRIERSTATE_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_BARRIERSTATE_H

#include "../Checks/VectorClock.h"

#include <map>
#include <memory>

namespace adsim {

constexpr uint32_t warpLanes = 32, warpgroupThreads = 128;
constexpr uint32_t noSite = ~0u;

struct Thread;

/// What earlier clusters have published by atomics: for each cluster, a clock over the threads of that
/// cluster.
using ClusterClockMap = std::map<uint32_t, VectorClock>;
using ClusterClocks = std::shared_ptr<const ClusterClockMap>;

/// The execution of one warp-synchronous or warpgroup-synchronous instruction: the threads arrive one by one,
/// and the last one executes the instruction for all.
struct Rendezvous {
  uint32_t mask = 0; ///< of lanes; 0 for a warpgroup
  uint32_t site = noSite;
  uint32_t present = 0;    ///< mask of the lanes that have arrived
  uint32_t generation = 0; ///< number of completed executions
  void *inputs[warpgroupThreads];
  void *outputs[warpgroupThreads];
  std::vector<Thread *> members;
};

/// A named barrier of a CTA, or the barrier of the cluster.
struct Barrier {
  struct Member {
    Thread *thread;
    uint32_t site;
    bool waits; ///< false for `barrier.arrive`
  };
  /// The lanes of one warp that have arrived, and the site of their instruction.
  struct Arrival {
    uint32_t lanes = 0, site = noSite;
  };
  uint32_t expected = 0; ///< thread count; 0: all threads that have not left the kernel
  Arrival warps[32];
  uint32_t reduced = 0; ///< number of predicates that were true
  std::vector<Member> members;
  ClockCollector genericClock, asyncClock;
  std::vector<ClusterClocks> clusterClocks;
};

/// The clocks of the threads that have arrived in the current phase of an mbarrier.
struct ReleasedClocks {
  ClockCollector genericClock, asyncClock;
};
/// The joined clocks of a completed phase.
struct AcquiredClocks {
  VectorClock genericClock, asyncClock;
};

/// The names follow the PTX ISA: phase, expected and pending arrival count, transaction count (tx-count).
struct MBarrier {
  uint32_t offset = 0;                                    ///< in shared memory
  uint32_t slot = 0;                                      ///< in vector clocks, for the copies that it tracks
  uint32_t rank = 0;                                      ///< of its CTA
  uint32_t initSite = noSite, initSlot = 0, initTick = 0; ///< of the mbarrier.init
  uint32_t expectedCount = 0;
  int64_t pendingCount = 0, txCount = 0;
  uint32_t phase = 0;
  bool valid = true;
  bool tracked = false; ///< whether copies complete in the current phase
  std::vector<Thread *> waiters;
  ReleasedClocks inCta;     ///< of arrivals by threads of its CTA
  ReleasedClocks inCluster; ///< of arrivals from other CTAs, in the scope of the cluster
  ClockCollector
      completed; ///< asynchronous operations that were complete at any arrival, relaxed ones included
  std::vector<ClusterClocks> clusterClocks;
  // The same of the previous phase, for the threads that wait for it.
  AcquiredClocks previousInCta, previousInCluster;
  VectorClock previousCompleted;
  ClusterClocks previousClusterClocks;
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_BARRIERSTATE_H
