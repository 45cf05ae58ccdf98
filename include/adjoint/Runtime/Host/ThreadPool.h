/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The threads of this process that run parallel loops. All programs share them, from whichever threads they
   are called, so that no more threads run than one program has asked for. A loop takes as many of the free
   ones as its work is worth, and runs on its caller alone when none is free. */
#ifndef ADJOINT_RUNTIME_HOST_THREADPOOL_H
#define ADJOINT_RUNTIME_HOST_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <pthread.h>

namespace adrt {

/// The smallest stack, in bytes, of a thread that runs kernels: they keep up to 1 MiB of packed operands
/// there.
constexpr size_t leastStack = size_t(3) << 19;

/// What it costs to let other threads take part in a loop, in nanoseconds.
struct HandOff {
  int64_t latency; ///< from the hand-off of a range without work until the caller knows that it is done
  int64_t post;    ///< the caller's own part of that, for each thread
};

/// How many threads a loop is worth that takes `nanoseconds` on one thread: at least 1, at most `units` and
/// `threads`. INT64_MAX nanoseconds are worth all threads.
unsigned countThreads(int64_t units, int64_t nanoseconds, unsigned threads, const HandOff &handOff);

class ThreadPool {
public:
  using Body = void (*)(void *closure, int64_t begin, int64_t end);

  /// Threads that one caller may ask for, itself included; more have no effect.
  static constexpr unsigned mostThreads = 1024;

  /// The pool of this process. It has no end: threads may be in loops while the process exits.
  static ThreadPool &get();
  /// Lets children of the process start threads of their own; called once, when the library is loaded.
  static int registerForkHandler();

  /// Lets a caller have `threads` threads, itself included, and all callers together as many. What was
  /// reserved before stays. Threads start with the first loop that is worth them.
  void reserve(unsigned threads);
  /// The most threads that were reserved.
  unsigned getSize() const { return size; }

  /// Runs `body` over disjoint ranges that cover [0, units), on at most `threads` threads, and returns when
  /// all are done. `nanoseconds` is what that takes on one thread, INT64_MAX when it is not known. No result
  /// may depend on the ranges: their number follows from the work, from what this machine needs to start
  /// threads and from how many are free. Inside a body a loop runs on its caller alone.
  void run(int64_t units, int64_t nanoseconds, unsigned threads, Body body, void *closure);

  /// As run, for a loop whose code runs again and again, and which `identity` tells from others: how long it
  /// took before decides about a short one (LoopTimes.h).
  void runTried(uint64_t identity, int64_t units, int64_t nanoseconds, unsigned threads, Body body,
                void *closure);

  /// Loops that more than one thread was posted to, since the process began.
  int64_t getSharedLoops() const { return sharedLoops; }

  /// How many of `threads` threads a loop that takes `nanoseconds` is worth, if they are free and awake.
  unsigned threadsFor(int64_t nanoseconds, unsigned threads) const;

  /// The hand-off to threads that wait for work without sleeping, and to threads that sleep: measured when
  /// the first ones start, and guesses before.
  HandOff getSpinning() const { return {spinningLatency, spinningPost}; }
  HandOff getAsleep() const { return {asleepLatency, asleepPost}; }

  /// A thread that runs a program has a place among the threads that run, for the lifetime of this object.
  class Caller {
  public:
    Caller();
    ~Caller();
    Caller(const Caller &) = delete;
    Caller &operator=(const Caller &) = delete;
  };

  /// Gives the caller's place away while it waits for its host.
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
  struct Samples;

  constexpr ThreadPool() = default;
  static ThreadPool instance;
  static void *workerMain(void *worker);
  [[noreturn]] void workerLoop(Worker &worker);
  Job *waitForJob(Worker &worker) const;
  static Job *sleepUntilPosted(Worker &worker);
  void finishRange(Worker &worker, Job &job);
  void waitForEnd(const Job &job);

  unsigned decide(int64_t units, int64_t nanoseconds, unsigned threads) const;
  unsigned threadsNow(int64_t units, int64_t nanoseconds, unsigned threads) const;
  unsigned share(unsigned wanted, int64_t units, Body body, void *closure);
  const Worker *findFree() const;
  unsigned claim(unsigned count, uint16_t *claimed);
  bool enter();
  void release(Worker &worker);

  void start(unsigned count);
  bool startWorker(unsigned index);
  void measure();
  bool sample(bool asleep, int64_t deadline, Samples &samples);
  static void forgetWorkers();

  Worker *workers[mostThreads] = {};    // the first `started` are threads
  std::atomic<unsigned> started{0};     // raised under `starting`
  std::atomic<bool> startFailed{false}; // the system has no more threads
  std::atomic<bool> measured{false};
  std::atomic<int64_t> sharedLoops{0};
  std::atomic<unsigned> size{1};
  std::atomic<unsigned> running{0};  // callers, and workers that are claimed
  std::atomic<unsigned> sleepers{0}; // callers that sleep until a loop ends
  std::atomic<int64_t> spinningLatency{1000}, spinningPost{200};
  std::atomic<int64_t> asleepLatency{40000}, asleepPost{4000};
  std::atomic<int> spinRounds{1000};
  pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_THREADPOOL_H
