/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Starts the threads of the pool, and measures what it costs to hand work over to them: to threads that spin,
   and to threads that sleep. */
#include "PoolWorker.h"

#include <csignal>
#include <new>

using namespace adrt;

namespace {

// In nanoseconds: how long threads wait before they sleep, how long they take to be asleep, and the limit of
// all measurements.
constexpr int64_t minSpin = 10000, maxSpin = 50000, untilAsleep = 20000, maxMeasuring = 2000000;

/// Signals go to the threads of the host, except those that a thread causes itself. `before` gets the mask of
/// now.
void blockSignals(sigset_t &before) {
  sigset_t signals;
  sigfillset(&signals);
  for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
    sigdelset(&signals, own);
  pthread_sigmask(SIG_SETMASK, &signals, &before);
}

} // namespace

// Another caller that starts threads at this moment is not waited for.
void ThreadPool::start(unsigned count) {
  if (started >= count || startFailed || pthread_mutex_trylock(&starting) != 0)
    return;
  while (started < count && startWorker(started))
    ++started;
  pthread_mutex_unlock(&starting);
}

bool ThreadPool::startWorker(unsigned index) {
  // The record of a parent's worker serves again.
  Worker *&worker = workers[index];
  worker = worker ? new (worker) Worker : new Worker;
  worker->pool = this;
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t signals;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  size_t stack = 0;
  if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < leastStack)
    pthread_attr_setstacksize(&attributes, leastStack);
  bool isKnown = sched_getaffinity(0, sizeof(worker->affinity), &worker->affinity) == 0;
  cpu_set_t others = worker->affinity;
  worker->hasOtherAffinity = isKnown && removeOwnCPU(others) &&
                             pthread_attr_setaffinity_np(&attributes, sizeof(others), &others) == 0;
  blockSignals(signals);
  bool made = pthread_create(&thread, &attributes, workerMain, worker) == 0;
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  pthread_attr_destroy(&attributes);
  startFailed = !made; // loops then run on the threads that there are
  return made;
}

/// Times of empty jobs, in nanoseconds.
struct ThreadPool::Samples {
  static constexpr unsigned most = 15;
  int64_t latency[most], post[most];
  unsigned count = 0;

  static int64_t median(int64_t *values, unsigned count, int64_t least, int64_t most) {
    std::nth_element(values, values + count / 2, values + count);
    return std::min(std::max(values[count / 2], least), most);
  }
};

// Hands an empty job to a worker. A sample when the worker sleeps, or does not, as asked; one that does not
// may have to be woken first. False when none is free, or when time is up.
bool ThreadPool::sample(bool asleep, int64_t deadline, Samples &samples) {
  uint16_t index;
  if (claim(1, &index) == 0)
    return false;
  Worker &worker = *workers[index];
  if (asleep) {
    while (!worker.asleep && now() < deadline)
      relax();
    for (int64_t end = now() + untilAsleep; now() < end;)
      relax();
  }
  bool isSample = worker.asleep == asleep;
  Job job = {[](void *, int64_t, int64_t) {}, nullptr, 2, 2, {1}};
  int64_t begin = now();
  worker.post(job, 1);
  int64_t posted = now();
  // A caller that slept would wake when the worker has fallen asleep.
  while (job.pending != 0 && now() < deadline)
    relax();
  waitForEnd(job);
  int64_t end = now();
  if (isSample) {
    samples.post[samples.count] = posted - begin;
    samples.latency[samples.count++] = end - begin;
  }
  return end < deadline;
}

// Clamped: on a busy machine a sample may have waited for a CPU.
void ThreadPool::measure() {
  int64_t deadline = now() + maxMeasuring;
  Samples awake, sleeping;
  while (awake.count < Samples::most && sample(false, deadline, awake))
    ;
  while (sleeping.count < 7 && sample(true, deadline, sleeping))
    ;
  if (sleeping.count >= 3) {
    asleepLatency = Samples::median(sleeping.latency, sleeping.count, 2000, 200000);
    asleepPost = Samples::median(sleeping.post, sleeping.count, 500, 20000);
  }
  if (awake.count >= 3) {
    spinningLatency = Samples::median(awake.latency, awake.count, 200, 10000);
    spinningPost = Samples::median(awake.post, awake.count, 50, 1000);
  }
  constexpr int rounds = 100;
  int64_t begin = now();
  for (int round = 0; round < rounds; ++round)
    relax();
  int64_t spin = std::min(std::max(2 * asleepLatency, minSpin), maxSpin);
  spinRounds = static_cast<int>(spin * rounds / std::max<int64_t>(now() - begin, rounds));
}
