/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Workers spin for a few microseconds before they sleep: kernels follow each other closely, and waking a
   thread costs more than most of them. */
#include "adjoint/Runtime/ThreadPool.h"
#include "adjoint/Runtime/FloatingPointState.h"

using namespace adrt;

namespace {

constexpr int spinRounds = 4000;

thread_local bool insideParallelLoop = false;

/// How many forks led to this process since its first pool started: a child has its parent's pools, but none
/// of their threads.
std::atomic<unsigned> forks{0};

void watchForks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  (void)registered;
}

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

} // namespace

ThreadPool::~ThreadPool() {
  stopWorkers();
  pthread_cond_destroy(&workReady);
  pthread_cond_destroy(&workDone);
  pthread_mutex_destroy(&mutex);
}

void ThreadPool::setThreads(unsigned count) {
  if (count == 0)
    count = 1;
  if (count == threads)
    return;
  stopWorkers();
  threads = count;
}

void ThreadPool::startWorkers() {
  watchForks();
  startedInFork = forks;
  started = true;
  stopping = false;
  // Reserved before the first thread starts: workers keep a pointer to their record.
  workers.reserve(threads - 1);
  for (unsigned index = 1; index < threads; ++index) {
    workers.push_back({this, index, generation.load(), {}});
    if (pthread_create(&workers.back().handle, nullptr, workerMain, &workers.back()) != 0) {
      // The caller takes over the ranges of threads that could not start: slower, with the same result.
      workers.pop_back();
      break;
    }
  }
}

void ThreadPool::forgetWorkers() {
  workers.clear();
  started = false;
  // A worker may have held them at the fork.
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&workReady, nullptr);
  pthread_cond_init(&workDone, nullptr);
}

void ThreadPool::stopWorkers() {
  if (started && startedInFork != forks)
    forgetWorkers();
  if (!started)
    return;
  pthread_mutex_lock(&mutex);
  stopping = true;
  ++generation;
  pthread_cond_broadcast(&workReady);
  pthread_mutex_unlock(&mutex);
  for (Worker &worker : workers)
    pthread_join(worker.handle, nullptr);
  workers.clear();
  started = false;
}

void *ThreadPool::workerMain(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  worker->pool->workerLoop(*worker);
  return nullptr;
}

void ThreadPool::workerLoop(const Worker &worker) {
  FloatingPointScope floatingPoint;
  insideParallelLoop = true;
  uint64_t seen = worker.firstGeneration;
  while (true) {
    seen = waitForWork(seen);
    if (stopping)
      return;
    runRange(worker.index);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) != 1)
      continue;
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&workDone);
    pthread_mutex_unlock(&mutex);
  }
}

uint64_t ThreadPool::waitForWork(uint64_t seen) {
  for (int round = 0; round < spinRounds; ++round) {
    uint64_t current = generation.load(std::memory_order_acquire);
    if (current != seen)
      return current;
    relax();
  }
  pthread_mutex_lock(&mutex);
  while (generation.load(std::memory_order_acquire) == seen)
    pthread_cond_wait(&workReady, &mutex);
  uint64_t current = generation.load(std::memory_order_acquire);
  pthread_mutex_unlock(&mutex);
  return current;
}

void ThreadPool::runRange(unsigned index) const {
  // The first `tiles % threads` ranges hold one tile more; written without a product that could overflow.
  int64_t size = tiles / threads, extra = tiles % threads;
  int64_t position = index;
  int64_t begin = size * position + (position < extra ? position : extra);
  int64_t end = begin + size + (position < extra ? 1 : 0);
  if (begin < end)
    body(closure, begin, end);
}

void ThreadPool::run(int64_t count, Body function, void *state) {
  if (count <= 0)
    return;
  if (threads == 1 || count == 1 || insideParallelLoop) {
    function(state, 0, count);
    return;
  }
  if (started && startedInFork != forks)
    forgetWorkers();
  if (!started)
    startWorkers();
  insideParallelLoop = true;
  body = function;
  closure = state;
  tiles = count;
  pending.store(static_cast<unsigned>(workers.size()), std::memory_order_relaxed);
  pthread_mutex_lock(&mutex);
  generation.fetch_add(1, std::memory_order_acq_rel);
  pthread_cond_broadcast(&workReady);
  pthread_mutex_unlock(&mutex);

  runRange(0);
  for (unsigned index = static_cast<unsigned>(workers.size()) + 1; index < threads; ++index)
    runRange(index);
  for (int round = 0; round < spinRounds && pending.load(std::memory_order_acquire) != 0; ++round)
    relax();
  if (pending.load(std::memory_order_acquire) != 0) {
    pthread_mutex_lock(&mutex);
    while (pending.load(std::memory_order_acquire) != 0)
      pthread_cond_wait(&workDone, &mutex);
    pthread_mutex_unlock(&mutex);
  }
  insideParallelLoop = false;
}
