/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Runs clusters: starts a fiber for each thread, resumes those that are ready in the order of the schedule,
   lets copies land when nobody is ready, and says who waits for what when nothing can go on. */
#include "Bulk.h"
#include "Deadlock.h"
#include "State.h"

#include <sys/mman.h>

using namespace adsim;

static thread_local Worker *currentWorker;

Thread &adsim::currentThread() { return *currentWorker->current; }

Worker::~Worker() {
  if (sharedMapping)
    munmap(sharedMapping, sharedMapped);
}

bool Worker::prepare() {
  constexpr size_t stackBytes = 64 << 10;
  // Frames of unoptimised code are larger than the variables in them.
  if (!stacks.reserve(state.clusterThreads, stackBytes + 2 * static_cast<size_t>(state.code.localBytes)))
    return false;
  auto ctaCount = static_cast<uint32_t>(state.cluster.count());
  sharedMapped = (ctaCount + 1) * sharedWindow;
  void *block =
      mmap(nullptr, sharedMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    return false;
  sharedMapping = static_cast<char *>(block);
  auto address = reinterpret_cast<uint64_t>(sharedMapping);
  sharedBase = sharedMapping + ((sharedWindow - address % sharedWindow) % sharedWindow);
  ctas.resize(ctaCount);
  threads = std::make_unique<Thread[]>(state.clusterThreads);
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

void Worker::leave(Thread &self) {
  switchFiber(self.context, scheduler, /*final=*/true);
  __builtin_unreachable();
}

void Worker::block(Thread &self, const char *what, uint32_t site, uint64_t detail, bool ofWarp) {
  self.wait = {what, site, detail, ofWarp};
  ++statistics.switches;
  switchFiber(self.context, scheduler);
  self.wait = {};
}

bool Worker::poll(Thread &self) {
  if (state.failedCluster.load(std::memory_order_relaxed) < clusterNumber) {
    failed = true; // a cluster before this one has failed: nobody asks for what happens here
    return true;
  }
  if (!state.launch.interrupted || !state.launch.interrupted())
    return false;
  fail(Failure::Interrupted, self, noSite, "the launch was interrupted");
  return true;
}

static void fillRegisters(Thread &thread, const LaunchState &state, const Cta &cta) {
  const Dim3 &block = state.launch.block, &grid = state.launch.grid, &cluster = state.cluster;
  auto set = [&](Register first, uint32_t x, uint32_t y, uint32_t z) {
    thread.registers[first] = x;
    thread.registers[first + 1] = y;
    thread.registers[first + 2] = z;
  };
  uint32_t index = thread.index;
  set(TidX, index % block.x, index / block.x % block.y, index / block.x / block.y);
  set(NtidX, block.x, block.y, block.z);
  set(CtaidX, cta.id.x, cta.id.y, cta.id.z);
  set(NctaidX, grid.x, grid.y, grid.z);
  set(ClusterIdX, cta.id.x / cluster.x, cta.id.y / cluster.y, cta.id.z / cluster.z);
  set(NClusterIdX, state.clusters.x, state.clusters.y, state.clusters.z);
  set(ClusterCtaidX, cta.id.x % cluster.x, cta.id.y % cluster.y, cta.id.z % cluster.z);
  set(ClusterNctaidX, cluster.x, cluster.y, cluster.z);
  thread.registers[LaneId] = thread.lane;
  thread.registers[WarpId] = index / warpLanes;
  thread.registers[NWarpId] = (state.blockThreads + warpLanes - 1) / warpLanes;
  thread.registers[ClusterCtarank] = cta.rank;
  thread.registers[ClusterNctarank] = static_cast<uint32_t>(cluster.count());
  thread.registers[DynamicSharedBytes] = state.launch.dynamicSharedBytes;
  thread.registers[TotalSharedBytes] = state.sharedBytes;
}

void Worker::startThread(Cta &cta, uint32_t index) {
  uint32_t slot = cta.rank * state.blockThreads + index;
  Thread &thread = threads[slot];
  thread = Thread();
  thread.worker = this;
  thread.cta = &cta;
  thread.index = index;
  thread.lane = index % warpLanes;
  thread.slot = slot;
  thread.warp = &cta.warps[index / warpLanes];
  thread.warpgroup = &cta.warpgroups[index / warpgroupThreads];
  thread.shared = cta.shared;
  thread.warp->lanes |= 1u << thread.lane;
  ++thread.warpgroup->threads;
  thread.seen.own = 1;
  fillRegisters(thread, state, cta);
  prepareFiber(thread.context, stacks.bottom(slot), stacks.bytes(), runFiber);
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
    startCta(cta, state, sharedBase + rank * sharedWindow, races);
    for (uint32_t index = 0; index < state.blockThreads; ++index)
      startThread(cta, index);
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
  constexpr uint64_t pollEvery = 1024, landEvery = 16;
  bool shuffled = state.launch.schedule == Schedule::Shuffled;
  while (!failed) {
    if (shuffled && !bulkQueue.empty() && random.below(landEvery) == 0)
      landOneCopy(*this);
    Thread *thread = pickReady();
    if (!thread) {
      if (clusterLive && landOneCopy(*this))
        continue;
      break;
    }
    current = thread;
    switchFiber(scheduler, thread->context);
    if (statistics.switches % pollEvery == 0 && !failed)
      poll(*thread);
  }
  if (!failed && clusterLive)
    reportDeadlock();
  while (!failed && landOneCopy(*this)) {
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
