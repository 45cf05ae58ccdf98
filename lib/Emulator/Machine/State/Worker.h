/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   CTAs, the launch, and the worker: it runs one cluster after the other on one host thread. The methods of
   the worker are implemented in the folders of their concern: Scheduling, Copies, and Failure.cpp. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_WORKER_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_WORKER_H

#include "../Checks/ShadowMemory.h"
#include "Thread.h"
#include "Traffic.h"
#include "adjoint/Emulator/Machine.h"

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace adsim {

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
  uint64_t freeRegisters = 0; ///< released by setmaxnreg.dec
  std::vector<Thread *> registerWaiters;
  WrittenBytes barrierBytes; ///< bytes that hold mbarriers, which are opaque
  WrittenBytes written;
  std::vector<ShadowWord> shadow;
  /// For each 16 bytes: 1 + the swizzle of the tensor map that filled them, or 0.
  std::vector<uint8_t> tileSwizzles;
};

/// The clocks that the last cluster has released by writes to an atomic variable.
struct AtomicClock {
  VectorClock genericClock, asyncClock;
  uint32_t cluster = 0;
  ClusterClocks clusterClocks;
};

/// A launch; all its workers share it.
struct LaunchState {
  const KernelCode &code;
  void **arguments;
  const Launch &launch;
  Dim3 cluster;
  Dim3 clusters; ///< number of clusters of the grid
  uint32_t blockThreads = 0, clusterThreads = 0;
  uint32_t sharedBytes = 0;
  std::vector<MemoryRange> ranges; ///< sorted by address
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> failedCluster{~uint64_t(0)};

  LaunchState(const KernelCode &code, void **arguments, const Launch &launch)
      : code(code), arguments(arguments), launch(launch) {}
};

/// SplitMix64: the same seed gives the same schedule with every standard library.
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

/// The large allocations of a worker: stacks, threads, shared memory. They are kept for later launches.
struct WorkerMemory {
  WorkerMemory() = default;
  ~WorkerMemory();
  WorkerMemory(const WorkerMemory &) = delete;
  WorkerMemory &operator=(const WorkerMemory &) = delete;
  /// The memory of an earlier launch if there is one, else new memory. Null when there is not enough memory.
  static std::unique_ptr<WorkerMemory> reuseOrCreate(uint32_t threads, size_t stackBytes, uint32_t ctas);
  static void recycle(std::unique_ptr<WorkerMemory> memory);

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

  /// Allocates the memory for one cluster.
  bool prepare();
  /// Runs clusters until the grid is complete or one has failed.
  void run();

  bool ownsStack(const Thread &thread, const void *pointer) const {
    return memory->stacks.contains(thread.slot, pointer);
  }
  void makeReady(Thread &thread) {
    if (!thread.queued)
      ready.push_back(&thread);
    thread.queued = true;
  }
  /// Suspends the running thread until another thread or the scheduler makes it ready.
  void block(Thread &self, const char *what, uint32_t site, uint64_t detail = 0, bool ofWarp = false);
  /// Switches away from the running thread, which never continues.
  [[noreturn]] void leave(Thread &self);
  /// Whether the launch has to end: an earlier cluster has failed, or `Launch::interrupted` says so.
  bool poll(Thread &self);
  /// Completes one bulk copy in flight: the oldest, or a random one in the shuffled schedule. False if there
  /// is none.
  bool landOneCopy();

  /// Records the first failure; `site` and `otherSite` index the sites of the kernel.
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
  uint32_t nextSlot = 0; ///< in vector clocks, for mbarriers
  uint32_t nextCopy = 1; ///< number of the next asynchronous operation
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
};

/// The thread that runs on this host thread.
Thread &currentThread();

/// `(x, y, z)`.
std::string describeThread(const Thread &thread);

/// The CTA of the cluster whose shared memory contains `pointer`, or null.
inline Cta *ctaOf(Worker &worker, const void *pointer) {
  uint64_t distance = static_cast<uint64_t>(static_cast<const char *>(pointer) - worker.ctas[0].shared);
  return distance < worker.ctas.size() * sharedWindow ? &worker.ctas[distance / sharedWindow] : nullptr;
}

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_WORKER_H
