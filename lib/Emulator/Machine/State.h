/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What the emulated machine is made of: threads in warps, warpgroups, CTAs and a cluster, and the worker that
   runs one cluster on one host thread. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_H

#include "Checks/Clock.h"
#include "Checks/Shadow.h"
#include "Instructions/Registers.h"
#include "Memory/TensorMap.h"
#include "Memory/Traffic.h"
#include "Scheduling/Fiber.h"
#include "adjoint/Emulator/Abi.h"
#include "adjoint/Emulator/Machine.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace adsim {

constexpr uint32_t warpLanes = 32, warpgroupThreads = 128;
constexpr uint32_t noSite = ~0u;

struct Cta;
struct Worker;
struct Thread;

/// What clusters that ran before have published by atomics: what each of them knew of itself.
using ForeignClocks = std::map<uint32_t, Clock>;
using Foreign = std::shared_ptr<const ForeignClocks>;

/// Why a thread waits; for the report of a deadlock.
struct Wait {
  const char *what = nullptr;
  uint32_t site = noSite;
  uint64_t detail = 0;
  bool ofWarp = false; ///< the lanes of a warp wait together
};

/// Threads that meet at one instruction: the lanes of a warp, the threads of a warpgroup.
struct Meeting {
  uint32_t mask = 0; ///< of lanes; 0 for a warpgroup
  uint32_t site = noSite;
  uint32_t present = 0;    ///< lanes that have arrived
  uint32_t generation = 0; ///< how often all have met
  void *inputs[warpgroupThreads];
  void *outputs[warpgroupThreads];
  std::vector<Thread *> members;
};

struct Warp {
  uint32_t lanes = 0; ///< that exist
  uint32_t exited = 0;
  std::vector<std::unique_ptr<Meeting>> meetings;
};

/// A pending operation of the asynchronous proxy on shared memory, for the race detector.
struct PendingRange {
  uint32_t offset, bytes, number;
};

struct Warpgroup {
  uint32_t threads = 0;
  Meeting multiply, wait;
  std::vector<PendingRange> open;
  std::vector<std::vector<PendingRange>> groups;
};

struct Barrier {
  struct Member {
    Thread *thread;
    uint32_t site;
    bool waits;
  };
  /// Lanes of one warp that have arrived, and where.
  struct Arrival {
    uint32_t lanes = 0, site = noSite;
  };
  uint32_t expected = 0; ///< threads; 0: all that are left
  Arrival warps[32];
  uint32_t reduced = 0; ///< predicates that were true
  std::vector<Member> members;
  ClockGather seen, fenced;
  std::vector<Foreign> foreign;
};

/// What arrivals at an mbarrier release in a phase.
struct Released {
  ClockGather seen, fenced;
};
struct Acquired {
  Clock seen, fenced;
};

struct MBarrier {
  uint32_t offset = 0, slot = 0;
  uint32_t rank = 0;                                      ///< of its CTA
  uint32_t initSite = noSite, initSlot = 0, initTick = 0; ///< where, and by whom when
  uint32_t count = 0;
  int64_t pending = 0, transactions = 0;
  uint32_t phase = 0;
  bool valid = true;
  bool tracked = false; ///< copies complete in this phase
  std::vector<Thread *> waiters;
  Released inCta, fromOthers; ///< by threads of its CTA, and by others in the scope of the cluster
  ClockGather completed;      ///< by all arrivals, relaxed ones too: asynchronous operations that are over
  std::vector<Foreign> foreign;
  // Of the phase before.
  Acquired doneInCta, doneFromOthers;
  Clock doneCompleted;
  Foreign doneForeign;
};

/// One cp.async.
struct SmallCopy {
  char *destination;
  const char *source;
  uint32_t bytes, sourceBytes, site, number;
  bool landed;
};

/// A copy by the bulk engine, in either direction, of a tile or of a row of bytes.
struct BulkCopy {
  TensorMap map; // for tiles
  int32_t coordinates[5] = {};
  char *shared = nullptr, *global = nullptr;
  Cta *target = nullptr; ///< whose shared memory takes part
  Thread *issuer = nullptr;
  MBarrier *barrier = nullptr; ///< that a load reports to
  char *from = nullptr;        ///< shared memory that is copied to shared memory
  uint32_t bytes = 0, site = noSite, number = 0;
  bool tiled = false, toGlobal = false, landed = false;
};

/// What compiled code reads.
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
  uint32_t lane = 0, index = 0; ///< in its warp, in its CTA
  uint32_t slot = 0;            ///< in the cluster
  bool done = false, queued = false;
  Wait wait;
  uint32_t barrierResult = 0; ///< of the last barrier with a reduction
  uint32_t clusterTarget = 0; ///< phase of the cluster's barrier that this thread has arrived at
  uint32_t registerCount = 0; ///< that setmaxnreg changes
  bool hasSetRegisters = false;
  WgmmaState wgmma;

  Knowledge seen, fenced;
  Clock releaseSeen; ///< what the last fence released
  bool released = false;
  Foreign foreign, pendingForeign;
  Clock pendingSeen; ///< read by relaxed atomics, for the next fence
  Clock completed;   ///< asynchronous operations that mbarriers say are over

  /// Makes it a new thread, which keeps the memory of the old one.
  void reset() {
    done = queued = released = false;
    wait = {};
    barrierResult = clusterTarget = 0;
    seen = {Clock(), 1};
    fenced = {};
    releaseSeen = pendingSeen = completed = Clock();
    foreign = pendingForeign = nullptr;
    wgmma.reset();
    openCopies.clear();
    copyGroups.clear();
    openStores.clear();
    storeGroups.clear();
  }

  std::vector<SmallCopy> openCopies;
  std::vector<std::vector<SmallCopy>> copyGroups; // no deque: each would allocate memory at once
  std::vector<std::shared_ptr<BulkCopy>> openStores;
  std::vector<std::vector<std::shared_ptr<BulkCopy>>> storeGroups;
};

struct Cta {
  Cta() = default;
  Cta(Cta &&) = default;
  Dim3 id{0, 0, 0};
  uint32_t rank = 0, live = 0;
  char *shared = nullptr;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  Barrier barriers[16];
  std::deque<MBarrier> mbarriers;
  uint64_t freeRegisters = 0; ///< that threads have given up
  std::vector<Thread *> registerWaiters;
  WrittenBytes barrierBytes; ///< that are mbarriers, hence opaque
  WrittenBytes written;
  std::vector<ShadowWord> shadow;
  std::vector<uint8_t> tileSwizzles; ///< for each 16 bytes: of the tensor map that filled them, plus one
};

/// What other clusters must know about an atomic variable.
struct AtomicClock {
  Clock seen, fenced;
  uint32_t cluster = 0;
  Foreign foreign;
};

/// A launch as all its workers see it.
struct LaunchState {
  const KernelCode &code;
  void **arguments;
  const Launch &launch;
  Dim3 cluster;
  Dim3 clusters; ///< of the grid
  uint32_t blockThreads = 0, clusterThreads = 0;
  uint32_t sharedBytes = 0;
  std::vector<MemoryRange> ranges; ///< sorted by address
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> failedCluster{~uint64_t(0)};

  LaunchState(const KernelCode &code, void **arguments, const Launch &launch)
      : code(code), arguments(arguments), launch(launch) {}
};

/// A small generator of its own: results must not depend on a library.
struct Random {
  uint64_t state = 0;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t below(uint64_t bound) { return static_cast<uint32_t>(next() % bound); }
};

/// What a worker needs much of and what is costly to get: stacks, threads, shared memory. Kept for later
/// launches.
struct WorkerMemory {
  WorkerMemory() = default;
  ~WorkerMemory();
  WorkerMemory(const WorkerMemory &) = delete;
  WorkerMemory &operator=(const WorkerMemory &) = delete;
  /// Of an earlier launch, if there was one. Null when there is not enough memory.
  static std::unique_ptr<WorkerMemory> take(uint32_t threads, size_t stackBytes, uint32_t ctas);
  static void giveBack(std::unique_ptr<WorkerMemory> memory);

  StackPool stacks;
  std::vector<Thread> threads;
  char *sharedBase = nullptr; ///< a multiple of sharedWindow

private:
  bool reserve(uint32_t threads, size_t stackBytes, uint32_t ctas);
  bool reserveShared(uint32_t ctas);
  char *mapping = nullptr;
  size_t mapped = 0;
};

struct Worker {
  explicit Worker(LaunchState &launch) : state(launch), races(launch.launch.detectRaces) {}
  ~Worker();

  /// Memory for one cluster.
  bool prepare();
  /// Runs clusters until none is left or one has failed.
  void run();

  bool ownsStack(const Thread &thread, const void *pointer) const {
    return memory->stacks.contains(thread.slot, pointer);
  }
  void makeReady(Thread &thread) {
    if (!thread.queued)
      ready.push_back(&thread);
    thread.queued = true;
  }
  /// Suspends the running thread until somebody makes it ready.
  void block(Thread &self, const char *what, uint32_t site, uint64_t detail = 0, bool ofWarp = false);
  /// Leaves the running thread for ever.
  [[noreturn]] void leave(Thread &self);
  /// Whether the launch is to end: asks the caller now and then.
  bool poll(Thread &self);

  /// Records the first failure; `site` and `other` index the sites of the kernel.
  void fail(Failure kind, const Thread &thread, uint32_t site, const std::string &what,
            uint32_t otherSite = noSite, const std::string &otherText = {});

  std::unique_ptr<WorkerMemory> memory;
  LaunchState &state;
  const bool races;
  Statistics statistics;
  Result result;
  bool failed = false;
  uint64_t failedAt = 0;

  // The running cluster.
  uint64_t clusterNumber = 0;
  std::vector<Cta> ctas;
  Thread *threads = nullptr;
  Thread *current = nullptr;
  Context scheduler;
  std::vector<Thread *> ready;
  size_t readyHead = 0;
  std::vector<std::shared_ptr<BulkCopy>> bulkQueue;
  Barrier clusterBarrier;
  uint32_t clusterPhase = 0, clusterLive = 0;
  uint32_t nextSlot = 0; ///< of mbarriers
  uint32_t nextCopy = 1; ///< number of an asynchronous copy
  Random random;
  uint64_t accesses = 0;
  const MemoryRange *lastRange = nullptr;
  ClockJoiner joiner;
  GlobalShadow globalShadow;
  std::unordered_map<uint64_t, AtomicClock> atomicClocks;
  TrafficCounter traffic;

private:
  void startCluster(uint64_t number);
  void startThread(Cta &cta, uint32_t index, const ThreadHeader &common);
  void runCluster();
  Thread *pickReady();
  Thread *pickNext();
  void reportDeadlock();
  bool stopped() const { return failed || state.failedCluster.load() < clusterNumber; }
};

/// The thread that runs on this host thread.
Thread &currentThread();

inline Site siteOf(const KernelCode &code, uint32_t site) {
  const uint32_t *offsets = code.siteOffsets + 2 * static_cast<size_t>(site);
  return {code.siteText + offsets[0], code.siteText + offsets[1]};
}

/// `(x, y, z)`.
std::string describeThread(const Thread &thread);

inline bool inShared(const Worker &worker, const void *pointer) {
  return static_cast<uint64_t>(static_cast<const char *>(pointer) - worker.ctas[0].shared) <
         worker.ctas.size() * sharedWindow;
}

/// The CTA of the cluster whose shared memory `pointer` lies in, or null.
inline Cta *ctaOf(Worker &worker, const void *pointer) {
  uint64_t distance = static_cast<uint64_t>(static_cast<const char *>(pointer) - worker.ctas[0].shared);
  return distance < worker.ctas.size() * sharedWindow ? &worker.ctas[distance / sharedWindow] : nullptr;
}

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_H
