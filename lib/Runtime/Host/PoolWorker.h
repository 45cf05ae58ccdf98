/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The threads of the pool and the jobs in their mailboxes. Invariants: a claimed worker belongs to one
   caller, and a job stays on the stack of its caller until no worker uses it. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_POOLWORKER_H
#define ADJOINT_LIB_RUNTIME_HOST_POOLWORKER_H

#include "adjoint/Runtime/Host/ThreadPool.h"

#include <algorithm>
#include <ctime>
#include <sched.h>

// Tests of the pool define a delay here: between two steps whose order matters.
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

/// Removes the CPU of this thread from a set. False when the set is then empty, or the CPU is not known.
inline bool removeOwnCPU(cpu_set_t &cpus) {
  int own = sched_getcpu();
  if (own < 0 || own >= CPU_SETSIZE)
    return false;
  CPU_CLR(own, &cpus);
  return CPU_COUNT(&cpus) > 0;
}

/// A loop, on the stack of its caller, which waits until `pending` is 0.
struct ThreadPool::Job {
  Body body;
  void *closure;
  int64_t units;
  unsigned ranges;
  std::atomic<unsigned> pending; // ranges of workers that are not done

  // The first `units % ranges` ranges have one more unit. No product here can overflow.
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
  bool hasOtherAffinity = false; // from the moment a caller wakes the thread until it runs
  cpu_set_t affinity = {};       // the thread's own, to be restored
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
  /// Wakes the thread on another CPU than the caller's, which stays busy. A scheduler may choose the caller's
  /// CPU: in a virtual machine it does when the other CPUs are halted.
  void wake() {
    // A thread that was woken and has not run since does not have its own affinity now.
    bool isKnown = hasOtherAffinity || pthread_getaffinity_np(thread, sizeof(affinity), &affinity) == 0;
    cpu_set_t others = affinity;
    hasOtherAffinity |=
        isKnown && removeOwnCPU(others) && pthread_setaffinity_np(thread, sizeof(others), &others) == 0;
    pthread_cond_signal(&posted);
  }
  /// Called by the thread itself when it is awake.
  void restoreAffinity() {
    if (hasOtherAffinity)
      pthread_setaffinity_np(thread, sizeof(affinity), &affinity);
    hasOtherAffinity = false;
  }
  /// Takes the job out of the mailbox. False when the worker has begun it.
  bool takeBack(Job &job) {
    Job *expected = &job;
    return mailbox.compare_exchange_strong(expected, nullptr);
  }
  /// Sleeps until a caller wakes the thread. Null when the caller took its job back before the thread was
  /// awake.
  Job *sleepUntilPosted() {
    pthread_mutex_lock(&mutex);
    asleep = true;
    ADRT_POOL_STEP();
    Job *job = mailbox.exchange(nullptr);
    if (!job) {
      pthread_cond_wait(&posted, &mutex);
      restoreAffinity();
      job = mailbox.exchange(nullptr);
    }
    asleep = false;
    pthread_mutex_unlock(&mutex);
    return job;
  }
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_POOLWORKER_H
