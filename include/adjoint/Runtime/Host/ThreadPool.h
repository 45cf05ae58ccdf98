/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The threads of this process that run parallel loops. All programs share one pool, whichever threads call
   them, so that the process never runs more threads than one program requested. A loop uses as many free
   threads as its estimated time pays for. It runs on its caller alone when no thread is free. */
#ifndef ADJOINT_RUNTIME_HOST_THREADPOOL_H
#define ADJOINT_RUNTIME_HOST_THREADPOOL_H

#include "adjoint/Runtime/Host/HandOff.h"

#include <pthread.h>

namespace adrt {

/// The minimum stack, in bytes, of a thread that runs kernels: a kernel keeps up to 1 MiB of packed operands
/// on its stack.
constexpr size_t minStack = size_t(3) << 19;

class ThreadPool {
public:
  using Body = void (*)(void *closure, int64_t begin, int64_t end);

  /// The maximum number of threads of one caller, itself included; larger requests count as this many.
  static constexpr unsigned maxThreads = 1024;

  /// The pool of this process. It is never destroyed: threads may still run loops while the process exits.
  static ThreadPool &get();
  /// Lets a child process start threads of its own; called once, when the library is loaded.
  static int registerForkHandler();

  /// Lets each caller use `threads` threads, itself included, and all callers together as many. Earlier,
  /// larger reservations stay. Threads start with the first loop that pays for them.
  void reserve(unsigned threads);
  /// The maximum of all reservations.
  unsigned getSize() const { return size; }

  /// Runs `body` over disjoint ranges that cover [0, units), on at most `threads` threads, and returns when
  /// all ranges are done. `nanoseconds` is the estimated time of the loop on one thread, INT64_MAX when it is
  /// not known. No result may depend on the ranges: their number follows from the estimate, from the measured
  /// cost of a hand-off and from how many threads are free. A loop inside a body runs on its caller alone.
  void run(int64_t units, int64_t nanoseconds, unsigned threads, Body body, void *closure);

  /// As run, for a loop that runs repeatedly. `identity` identifies its code. The times of earlier runs
  /// decide whether a short loop is divided (LoopTimes.h).
  void runTried(uint64_t identity, int64_t units, int64_t nanoseconds, unsigned threads, Body body,
                void *closure);

  /// The number of loops of this process that ran on more than one thread.
  int64_t getSharedLoops() const { return sharedLoops; }

  /// How many of `threads` threads a loop that takes `nanoseconds` pays for, if all of them are free and
  /// awake.
  unsigned threadsFor(int64_t nanoseconds, unsigned threads) const;

  const HandOffCosts &getCosts() const { return costs; }

  /// Counts the calling thread, which runs a program, among the running threads for the lifetime of this
  /// object.
  class Caller {
  public:
    Caller();
    ~Caller();
    Caller(const Caller &) = delete;
    Caller &operator=(const Caller &) = delete;
  };

  /// Does not count the calling thread while it waits for its host.
  class Pause {
  public:
    Pause();
    ~Pause();
    Pause(const Pause &) = delete;
    Pause &operator=(const Pause &) = delete;

  private:
    unsigned depth;
  };

private:
  struct Job;
  struct Worker;
  class HandOffMeasurement;

  constexpr ThreadPool() = default;
  static ThreadPool instance;
  static void *workerMain(void *worker);
  [[noreturn]] void workerLoop(Worker &worker);
  Job *waitForJob(Worker &worker) const;
  void finishRange(Worker &worker, Job &job);
  void waitForEnd(const Job &job);

  unsigned decide(int64_t units, int64_t nanoseconds, unsigned threads) const;
  unsigned threadsNow(int64_t units, int64_t nanoseconds, unsigned threads) const;
  unsigned distribute(unsigned wanted, int64_t units, Body body, void *closure);
  const Worker *findFree() const;
  unsigned claim(unsigned count, uint16_t *claimed);
  bool enter();
  void release(Worker &worker);

  void start(unsigned count);
  bool startWorker(unsigned index);
  static void forgetWorkers();

  Worker *workers[maxThreads] = {};     // the first `started` are threads
  std::atomic<unsigned> started{0};     // raised under `starting`
  std::atomic<bool> startFailed{false}; // the system has no more threads
  std::atomic<bool> measured{false};
  std::atomic<int64_t> sharedLoops{0};
  std::atomic<unsigned> size{1};
  std::atomic<unsigned> running{0};  // callers, and workers that are claimed
  std::atomic<unsigned> sleepers{0}; // callers that sleep until a loop ends
  HandOffCosts costs;
  pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_THREADPOOL_H
