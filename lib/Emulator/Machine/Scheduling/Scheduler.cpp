/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Runs clusters: starts a fiber for each thread, and resumes ready threads in the order of the schedule. If
   no thread is ready, a copy in flight lands. If there is none, the threads are in a deadlock. */
#include "../Instructions/Registers.h"
#include "Deadlock.h"

using namespace adsim;

static thread_local Worker *currentWorker;

Thread &adsim::currentThread() { return *currentWorker->current; }

Worker::~Worker() {
  if (memory)
    WorkerMemory::recycle(std::move(memory));
}

bool Worker::prepare() {
  constexpr size_t stackBytes = 64 << 10;
  // Frames of unoptimised code are larger than their variables.
  size_t bytes = stackBytes + 2 * static_cast<size_t>(state.code.localBytes);
  auto ctaCount = static_cast<uint32_t>(state.cluster.count());
  memory = WorkerMemory::reuseOrCreate(state.clusterThreads, bytes, ctaCount);
  if (!memory)
    return false;
  threads = memory->threads.data();
  ctas.resize(ctaCount);
  traffic.start(state.launch.countTraffic);
  return true;
}

static void runFiber() {
  Thread &self = *currentWorker->current;
  Worker &worker = *self.worker;
  enteredFiber(self.context, worker.scheduler);
  worker.state.code.entry(worker.state.arguments);
  exitThread(self);
  worker.leave(self);
}

/// The thread to which a suspended thread switches directly, which is faster than through the scheduler.
/// Null: it switches to the scheduler.
Thread *Worker::pickNext() {
#if defined(ADSIM_ADDRESS_SANITIZER)
  return nullptr; // the sanitizer needs to know which fiber it comes from
#else
  constexpr uint64_t pollEvery = 1024;
  if (failed || state.launch.schedule == Schedule::Shuffled || statistics.switches % pollEvery == 0)
    return nullptr;
  return pickReady();
#endif
}

void Worker::leave(Thread &self) {
  Thread *next = pickNext();
  current = next;
  switchFiber(self.context, next ? next->context : scheduler, /*final=*/true);
  __builtin_unreachable();
}

void Worker::block(Thread &self, const char *what, uint32_t site, uint64_t detail, bool ofWarp) {
  self.wait = {what, site, detail, ofWarp};
  ++statistics.switches;
  Thread *next = pickNext();
  current = next;
  if (next != &self)
    switchFiber(self.context, next ? next->context : scheduler);
  self.wait = {};
}

bool Worker::poll(Thread &self) {
  if (state.failedCluster.load(std::memory_order_relaxed) < clusterNumber) {
    failed = true; // an earlier cluster has failed, so the results of this one are not needed
    return true;
  }
  if (!state.launch.interrupted || !state.launch.interrupted())
    return false;
  fail(Failure::Interrupted, self, noSite, "the launch was interrupted");
  return true;
}

/// The registers that are equal in all threads of a CTA.
static ThreadHeader commonRegisters(const LaunchState &state, const Cta &cta) {
  const Dim3 &block = state.launch.block, &grid = state.launch.grid, &cluster = state.cluster;
  ThreadHeader header;
  header.shared = cta.shared;
  auto set = [&](Register first, uint32_t x, uint32_t y, uint32_t z) {
    header.registers[first] = x;
    header.registers[first + 1] = y;
    header.registers[first + 2] = z;
  };
  set(NtidX, block.x, block.y, block.z);
  set(CtaidX, cta.id.x, cta.id.y, cta.id.z);
  set(NctaidX, grid.x, grid.y, grid.z);
  set(ClusterIdX, cta.id.x / cluster.x, cta.id.y / cluster.y, cta.id.z / cluster.z);
  set(NClusterIdX, state.clusters.x, state.clusters.y, state.clusters.z);
  set(ClusterCtaidX, cta.id.x % cluster.x, cta.id.y % cluster.y, cta.id.z % cluster.z);
  set(ClusterNctaidX, cluster.x, cluster.y, cluster.z);
  header.registers[NWarpId] = (state.blockThreads + warpLanes - 1) / warpLanes;
  header.registers[ClusterCtarank] = cta.rank;
  header.registers[ClusterNctarank] = static_cast<uint32_t>(cluster.count());
  header.registers[DynamicSharedBytes] = state.launch.dynamicSharedBytes;
  header.registers[TotalSharedBytes] = state.sharedBytes;
  return header;
}

void Worker::startThread(Cta &cta, uint32_t index, const ThreadHeader &common) {
  uint32_t slot = cta.rank * state.blockThreads + index;
  Thread &thread = threads[slot];
  // The index is incremented from that of the previous thread, which avoids divisions.
  uint32_t x = 0, y = 0, z = 0;
  if (index) {
    const uint32_t *before = threads[slot - 1].registers;
    x = before[TidX] + 1, y = before[TidY], z = before[TidZ];
    if (x == state.launch.block.x)
      x = 0, ++y;
    if (y == state.launch.block.y)
      y = 0, ++z;
  }
  thread.reset();
  static_cast<ThreadHeader &>(thread) = common;
  thread.registers[TidX] = x;
  thread.registers[TidY] = y;
  thread.registers[TidZ] = z;
  thread.registers[LaneId] = thread.lane = index % warpLanes;
  thread.registers[WarpId] = index / warpLanes;
  thread.worker = this;
  thread.cta = &cta;
  thread.index = index;
  thread.slot = slot;
  thread.registerCount = launchRegisters(state);
  thread.hasSetRegisters = false;
  thread.warp = &cta.warps[index / warpLanes];
  thread.warpgroup = &cta.warpgroups[index / warpgroupThreads];
  thread.warp->lanes |= 1u << thread.lane;
  ++thread.warpgroup->threads;
  // Stacks are a multiple of a page apart. Without a shift their ends would map to few cache sets.
  constexpr uint32_t lineBytes = 64, shifts = 61;
  prepareFiber(thread.context, memory->stacks.bottom(slot),
               memory->stacks.bytes() - slot % shifts * lineBytes, runFiber);
  makeReady(thread);
}

static void startCta(Cta &cta, const LaunchState &state, char *shared, bool races) {
  constexpr int garbage = 0xff; // NaN in every float type
  cta.shared = shared;
  cta.live = state.blockThreads;
  cta.warps.clear();
  cta.warps.resize((state.blockThreads + warpLanes - 1) / warpLanes);
  cta.warpgroups.clear();
  cta.warpgroups.resize((state.blockThreads + warpgroupThreads - 1) / warpgroupThreads);
  for (Barrier &barrier : cta.barriers)
    barrier = Barrier();
  cta.mbarriers.clear();
  cta.freeRegisters = 0;
  cta.registerWaiters.clear();
  cta.written.reset(state.sharedBytes);
  cta.barrierBytes.reset(state.sharedBytes);
  std::fill_n(shared, state.sharedBytes, static_cast<char>(garbage));
  cta.shadow.clear();
  cta.tileSwizzles.clear();
  if (races)
    cta.shadow.resize(state.sharedBytes / 4 + 1);
}

void Worker::startCluster(uint64_t number) {
  clusterNumber = number;
  const Dim3 &cluster = state.cluster, &clusters = state.clusters;
  uint64_t x = number % clusters.x, y = number / clusters.x % clusters.y,
           z = number / clusters.x / clusters.y;
  random.state = state.launch.seed * 0x2545f4914f6cdd1du + number;
  ready.clear();
  readyHead = 0;
  bulkQueue.clear();
  clusterBarrier = Barrier();
  clusterPhase = 0;
  joiner.clear();
  clusterLive = state.clusterThreads;
  nextSlot = state.clusterThreads;
  for (uint32_t rank = 0; rank < ctas.size(); ++rank) {
    Cta &cta = ctas[rank];
    cta.rank = rank;
    cta.id.x = static_cast<uint32_t>(x * cluster.x + rank % cluster.x);
    cta.id.y = static_cast<uint32_t>(y * cluster.y + rank / cluster.x % cluster.y);
    cta.id.z = static_cast<uint32_t>(z * cluster.z + rank / cluster.x / cluster.y);
    startCta(cta, state, memory->sharedBase + rank * sharedWindow, races);
    ThreadHeader common = commonRegisters(state, cta);
    for (uint32_t index = 0; index < state.blockThreads; ++index)
      startThread(cta, index, common);
  }
  statistics.threads += state.clusterThreads;
}

Thread *Worker::pickReady() {
  size_t count = ready.size() - readyHead;
  if (!count) {
    ready.clear();
    readyHead = 0;
    return nullptr;
  }
  if (state.launch.schedule == Schedule::Shuffled)
    std::swap(ready[readyHead], ready[readyHead + random.below(count)]);
  Thread *thread = ready[readyHead++];
  thread->queued = false;
  constexpr size_t longTail = 1 << 14;
  if (readyHead > longTail) {
    ready.erase(ready.begin(), ready.begin() + static_cast<ptrdiff_t>(readyHead));
    readyHead = 0;
  }
  return thread;
}

void Worker::runCluster() {
  constexpr uint64_t pollEvery = 16, landEvery = 16;
  uint64_t resumed = 0;
  bool shuffled = state.launch.schedule == Schedule::Shuffled;
  while (!failed) {
    if (shuffled && !bulkQueue.empty() && random.below(landEvery) == 0)
      landOneCopy();
    Thread *thread = pickReady();
    if (!thread) {
      if (clusterLive && landOneCopy())
        continue;
      break;
    }
    current = thread;
    switchFiber(scheduler, thread->context);
    ++statistics.switches;
    if (++resumed % pollEvery == 0 && !failed)
      poll(*thread);
  }
  if (!failed && clusterLive)
    reportDeadlock();
  while (!failed && landOneCopy()) {
  }
  if (state.launch.countTraffic && !failed)
    traffic.flush();
}

void Worker::reportDeadlock() {
  Deadlock found = explainDeadlock(*this);
  fail(found.failure, *found.thread, found.thread->wait.site, found.text, found.otherSite, found.otherText);
}

void Worker::run() {
  currentWorker = this;
  uint64_t count = state.clusters.count();
  while (!failed) {
    uint64_t number = state.next++;
    if (number >= count || number > state.failedCluster.load())
      return;
    startCluster(number);
    runCluster();
  }
  if (!result.ok()) {
    failedAt = clusterNumber;
    uint64_t first = state.failedCluster.load();
    while (clusterNumber < first && !state.failedCluster.compare_exchange_weak(first, clusterNumber)) {
    }
  }
}
