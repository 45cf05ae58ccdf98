/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A small pool of threads for loops over tiles. Who runs which tile depends on the number of tiles and
   threads only, never on timing, so that a kernel whose partial results are joined per thread stays
   deterministic. */
#ifndef ADJOINT_RUNTIME_THREADPOOL_H
#define ADJOINT_RUNTIME_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <pthread.h>
#include <vector>

namespace adrt {

class ThreadPool {
public:
  using Body = void (*)(void *closure, int64_t begin, int64_t end);

  ThreadPool() = default;
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The number of threads of the next run, the caller included. Workers start with the first run that needs
  /// them.
  void setThreads(unsigned count);
  unsigned getThreads() const { return threads; }

  /// Runs `body` over all of [0, tiles) and returns when it is done. Inside a body it runs on the caller
  /// alone.
  void run(int64_t tiles, Body body, void *closure);

private:
  struct Worker {
    ThreadPool *pool;
    unsigned index;
    uint64_t firstGeneration; // the generation when the worker was made: jobs posted later are its work
    pthread_t handle;
  };

  static void *workerMain(void *worker);
  void workerLoop(const Worker &worker);
  void startWorkers();
  void stopWorkers();
  void forgetWorkers();
  void runRange(unsigned index) const;
  uint64_t waitForWork(uint64_t seen);

  unsigned threads = 1;
  std::vector<Worker> workers;
  bool started = false;
  unsigned startedInFork = 0; // see ThreadPool.cpp

  // The current job; written before `generation` is raised, read after it was seen to rise.
  Body body = nullptr;
  void *closure = nullptr;
  int64_t tiles = 0;

  std::atomic<uint64_t> generation{0};
  std::atomic<unsigned> pending{0};
  std::atomic<bool> stopping{false};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t workReady = PTHREAD_COND_INITIALIZER;
  pthread_cond_t workDone = PTHREAD_COND_INITIALIZER;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_THREADPOOL_H
