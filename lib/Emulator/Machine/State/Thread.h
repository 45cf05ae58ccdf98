/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Threads, and the warps and warpgroups that they form. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_THREAD_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_THREAD_H

#include "../../Abi.h"
#include "AsyncCopies.h"
#include "BarrierState.h"
#include "Fiber.h"
#include "WgmmaState.h"

#include <cstddef>
#include <memory>

namespace adsim {

struct Cta;
struct Worker;

/// What a thread waits for; used by the report of a deadlock.
struct Wait {
  const char *what = nullptr;
  uint32_t site = noSite;
  uint64_t detail = 0;
  bool ofWarp = false; ///< the instruction is warp-synchronous
};

struct Warp {
  uint32_t lanes = 0;  ///< mask of the lanes that exist
  uint32_t exited = 0; ///< mask of the lanes that have left the kernel
  std::vector<std::unique_ptr<Rendezvous>> rendezvousPoints;
};

struct Warpgroup {
  uint32_t threads = 0;
  Rendezvous multiply, wait;
  std::vector<PendingRange> open;                ///< of the wgmma that no group has yet
  std::vector<std::vector<PendingRange>> groups; ///< of each group in flight
};

/// The part of a thread that compiled code reads directly.
struct ThreadHeader {
  uint32_t registers[sharedBaseOffset / 4] = {};
  char *shared = nullptr;
};
static_assert(offsetof(ThreadHeader, shared) == sharedBaseOffset, "compiled code reads it there");

struct Thread : ThreadHeader {
  Context context;
  Worker *worker = nullptr;
  Cta *cta = nullptr;
  Warp *warp = nullptr;
  Warpgroup *warpgroup = nullptr;
  uint32_t lane = 0;  ///< in its warp
  uint32_t index = 0; ///< in its CTA
  uint32_t slot = 0;  ///< in its cluster, and in vector clocks
  bool done = false, queued = false;
  Wait wait;
  uint32_t barrierResult = 0; ///< of the last barrier with a reduction
  uint32_t clusterTarget = 0; ///< phase of the cluster barrier that this thread has arrived at
  uint32_t registerCount = 0; ///< that setmaxnreg changes
  bool hasSetRegisters = false;
  WgmmaState wgmma;

  ThreadClock genericClock;  ///< accesses that happened before the thread's next access by the generic proxy
  ThreadClock asyncClock;    ///< those that a proxy fence has made visible to the asynchronous proxy
  VectorClock releasedClock; ///< what the last memory fence released
  bool released = false;     ///< whether there was such a fence
  ClusterClocks clusterClocks; ///< of earlier clusters
  VectorClock pendingClock;    ///< read by relaxed atomics; the next fence acquires it
  ClusterClocks pendingClusterClocks;
  VectorClock completed; ///< asynchronous operations that an mbarrier has reported as complete

  /// Makes it a new thread, which keeps the allocations of the old one.
  void reset() {
    done = queued = released = false;
    wait = {};
    barrierResult = clusterTarget = 0;
    genericClock = {VectorClock(), 1};
    asyncClock = {};
    releasedClock = pendingClock = completed = VectorClock();
    clusterClocks = pendingClusterClocks = nullptr;
    wgmma.reset();
    openCpAsync.clear();
    cpAsyncGroups.clear();
    openBulkStores.clear();
    bulkStoreGroups.clear();
  }

  // Copies that no group has yet, and the groups in flight. Vectors, since an empty deque allocates memory.
  std::vector<CpAsyncCopy> openCpAsync;
  std::vector<std::vector<CpAsyncCopy>> cpAsyncGroups;
  std::vector<std::shared_ptr<BulkCopy>> openBulkStores;
  std::vector<std::vector<std::shared_ptr<BulkCopy>>> bulkStoreGroups;
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_THREAD_H
