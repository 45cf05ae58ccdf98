/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The threads of the pool and the jobs in their mailboxes. Invariant: a worker that is claimed belongs to one
   caller, and a job stays on its caller's stack until no worker uses it. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_POOLWORKER_H
#define ADJOINT_LIB_RUNTIME_HOST_POOLWORKER_H

#include "adjoint/Runtime/Host/ThreadPool.h"

#include <algorithm>
#include <ctime>
#include <sched.h>

// Tests of the pool delay threads here, between two steps whose order counts.
#ifndef ADRT_POOL_STEP
#define ADRT_POOL_STEP() ((void)0)
#endif

namespace adrt {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

inline int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t(1000000000) + time.tv_nsec;
}

/// Takes the CPU of this thread out of a set. False when it is the only one, or is not known.
inline bool removeOwnCPU(cpu_set_t &cpus) {
  int own = sched_getcpu();
  if (own < 0 || own >= CPU_SETSIZE)
    return false;
  CPU_CLR(own, &cpus);
  return CPU_COUNT(&cpus) > 0;
}

/// A loop; on the stack of its caller, who waits until `pending` is 0.
struct ThreadPool::Job {
  Body body;
  void *closure;
  int64_t units;
  unsigned ranges;
  std::atomic<unsigned> pending; // ranges of workers that are not done

  // The first `units % ranges` ranges hold one unit more; written without a product that could overflow.
  void run(unsigned range) const {
    int64_t length = units / ranges, extra = units % ranges, position = range;
    int64_t begin = length * position + std::min(position, extra);
    int64_t end = begin + length + (position < extra);
    if (begin < end)
      body(closure, begin, end);
  }
};

struct alignas(64) ThreadPool::Worker {
  std::atomic<Job *> mailbox{nullptr};
  std::atomic<bool> claimed{false}; // by a caller, until its range is done
  std::atomic<bool> asleep{false};
  unsigned range = 0; // of the job in the mailbox
  ThreadPool *pool = nullptr;
  pthread_t thread = {};
  bool hasOtherAffinity = false; // from when a caller wakes it until it runs
  cpu_set_t affinity = {};       // its own, meanwhile
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t posted = PTHREAD_COND_INITIALIZER;

  void post(Job &job, unsigned number) {
    range = number;
    mailbox.store(&job);
    ADRT_POOL_STEP();
    if (!asleep.load())
      return;
    pthread_mutex_lock(&mutex);
    if (asleep)
      wake();
    pthread_mutex_unlock(&mutex);
  }
  /// The system may choose the CPU of the caller, which will not be free for it soon: that of a virtual
  /// machine does so when the other ones are halted.
  void wake() {
    // A thread that has not run since it was woken before has another affinity than its own.
    bool isKnown = hasOtherAffinity || pthread_getaffinity_np(thread, sizeof(affinity), &affinity) == 0;
    cpu_set_t others = affinity;
    hasOtherAffinity |=
        isKnown && removeOwnCPU(others) && pthread_setaffinity_np(thread, sizeof(others), &others) == 0;
    pthread_cond_signal(&posted);
  }
  /// Of the thread itself, once it is awake.
  void restoreAffinity() {
    if (hasOtherAffinity)
      pthread_setaffinity_np(thread, sizeof(affinity), &affinity);
    hasOtherAffinity = false;
  }
  /// Whether the worker has not begun, and now will not.
  bool takeBack(Job &job) {
    Job *expected = &job;
    return mailbox.compare_exchange_strong(expected, nullptr);
  }
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_POOLWORKER_H
