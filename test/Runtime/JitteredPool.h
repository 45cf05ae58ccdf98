// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The thread pool under jitter. The pool is compiled here once more, with random delays around each call that
// synchronizes threads, so that a window of nanoseconds in which a wake-up could be lost lasts as long as a
// kernel. An alarm names the test whose threads make no progress, and ends the process. For one test program.
#ifndef ADJOINT_TEST_RUNTIME_JITTEREDPOOL_H
#define ADJOINT_TEST_RUNTIME_JITTEREDPOOL_H

#include "gtest/gtest.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <random>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

std::atomic<unsigned> jitterSeed{1};

/// No delay or a few microseconds, and rarely a delay that is longer than workers spin before they sleep.
void jitter() {
  thread_local std::minstd_rand draw(jitterSeed += 7919);
  unsigned kind = draw() % 16;
  if (kind < 6)
    return;
  timespec pause = {0, static_cast<long>(draw() % (kind == 15 ? 400000 : 20000))};
  nanosleep(&pause, nullptr);
}

int jitteredLock(pthread_mutex_t *mutex) {
  jitter();
  int result = pthread_mutex_lock(mutex);
  jitter();
  return result;
}
int jitteredUnlock(pthread_mutex_t *mutex) {
  jitter();
  int result = pthread_mutex_unlock(mutex);
  jitter();
  return result;
}
int jitteredWait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  jitter(); // after the caller has read the state, before it sleeps
  int result = pthread_cond_wait(condition, mutex);
  jitter();
  return result;
}
int jitteredSignal(pthread_cond_t *condition) {
  jitter();
  return pthread_cond_signal(condition);
}
int jitteredBroadcast(pthread_cond_t *condition) {
  jitter();
  return pthread_cond_broadcast(condition);
}

} // namespace

#define pthread_mutex_lock jitteredLock
#define pthread_mutex_unlock jitteredUnlock
#define pthread_cond_wait jitteredWait
#define pthread_cond_signal jitteredSignal
#define pthread_cond_broadcast jitteredBroadcast
#define ADRT_POOL_STEP() jitter()
// NOLINTNEXTLINE(bugprone-suspicious-include)
#include "../../lib/Runtime/Host/HandOffMeasurement.cpp"
#include "../../lib/Runtime/Host/ThreadPool.cpp"
#include "../../lib/Runtime/Host/ThreadPoolStart.cpp"

//===- Alarm --------------------------------------------------------------===//

namespace {

std::atomic<uint64_t> progress{0};
const char *volatile current = "";

/// Seconds in which this process runs: while it is stopped, at most one alarm is pending.
constexpr int secondsWithoutProgress = 30;

void onAlarm(int) {
  static uint64_t seen = 0;
  static int seconds = 0;
  uint64_t now = progress.load();
  seconds = now == seen ? seconds + 1 : 0;
  seen = now;
  if (seconds >= secondsWithoutProgress) {
    std::fprintf(stderr, "adrt-pool-unit: %s: threads wait for ever\n", current);
    _exit(1);
  }
  alarm(1);
}

void watchProgress() {
  struct sigaction action = {};
  action.sa_handler = onAlarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  alarm(1);
}

adrt::ThreadPool &pool() { return adrt::ThreadPool::get(); }

/// The visits of a loop, and how many bodies of all loops run at the same time.
struct Loop {
  std::vector<std::atomic<int>> visits;
  std::atomic<int> ranges{0};
  explicit Loop(int64_t units) : visits(static_cast<size_t>(units)) {}

  static inline std::atomic<int> running{0}, maxRunning{0};

  static void visit(void *closure, int64_t begin, int64_t end) {
    auto *loop = static_cast<Loop *>(closure);
    int now = ++running, before = maxRunning;
    while (before < now && !maxRunning.compare_exchange_weak(before, now))
      ;
    ++loop->ranges;
    for (int64_t unit = begin; unit < end; ++unit)
      ++loop->visits[static_cast<size_t>(unit)];
    jitter();
    --running;
  }
};

/// The number of ranges of a loop; 0 if a unit had not run exactly once when the call returned.
int runLoop(unsigned threads, int64_t units, int64_t nanoseconds = INT64_MAX) {
  Loop loop(units);
  pool().run(units, nanoseconds, threads, Loop::visit, &loop);
  ++progress;
  for (std::atomic<int> &visits : loop.visits)
    if (visits != 1)
      return 0;
  return loop.ranges;
}

/// The number of ranges of a loop without work, and how many of them its caller ran.
struct EmptyLoop {
  pthread_t caller = pthread_self();
  std::atomic<int> ranges{0}, own{0};

  explicit EmptyLoop(int64_t nanoseconds) { pool().run(2, nanoseconds, 2, count, this); }
  static void count(void *closure, int64_t, int64_t) {
    auto *loop = static_cast<EmptyLoop *>(closure);
    ++loop->ranges;
    loop->own += pthread_equal(loop->caller, pthread_self()) != 0;
  }
};

void startThreads(std::vector<pthread_t> &threads, void *(*work)(void *), void *state) {
  for (pthread_t &thread : threads)
    EXPECT_EQ(pthread_create(&thread, nullptr, work, state), 0);
}

void joinThreads(const std::vector<pthread_t> &threads) {
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

#endif // ADJOINT_TEST_RUNTIME_JITTEREDPOOL_H
