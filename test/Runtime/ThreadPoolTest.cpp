// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The thread pool under jitter. The pool is compiled here once more, with random delays around each call that
// threads wait or meet by, so that a window of nanoseconds in which a wake-up could be lost lasts as long as
// a kernel. A pool that does not go on is named by an alarm, and the process ends.
#include "Unit.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

std::atomic<unsigned> jitterSeed{1};

/// Mostly nothing or a few microseconds, now and then longer than workers spin before they sleep.
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
  jitter(); // between the look at the state and the sleep
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
// NOLINTNEXTLINE(bugprone-suspicious-include)
#include "../../lib/Runtime/ThreadPool.cpp"

//===- Alarm --------------------------------------------------------------===//

namespace {

std::atomic<uint64_t> progress{0};
const char *volatile current = "";

/// Seconds of this process: while it is stopped, at most one alarm waits.
constexpr int secondsWithoutProgress = 30;

void onAlarm(int) {
  static uint64_t seen = 0;
  static int seconds = 0;
  uint64_t now = progress.load();
  seconds = now == seen ? seconds + 1 : 0;
  seen = now;
  if (seconds >= secondsWithoutProgress) {
    std::fprintf(stderr, "adrt-pool-unit: %s: threads wait for ever\nadrt-pool-unit: 1 run, 1 failed\n",
                 current);
    _exit(1);
  }
  alarm(1);
}

struct Ranges {
  std::vector<std::atomic<int>> visits;
  explicit Ranges(int64_t tiles) : visits(static_cast<size_t>(tiles)) {}

  static void visit(void *closure, int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile)
      static_cast<Ranges *>(closure)->visits[static_cast<size_t>(tile)].fetch_add(1,
                                                                                  std::memory_order_relaxed);
    jitter();
  }
};

/// Whether each tile ran once by the time the call returned.
bool runsEachTileOnce(adrt::ThreadPool &pool, int64_t tiles) {
  Ranges ranges(tiles);
  pool.run(tiles, Ranges::visit, &ranges);
  ++progress;
  for (std::atomic<int> &visits : ranges.visits)
    if (visits.load(std::memory_order_relaxed) != 1)
      return false;
  return true;
}

} // namespace

//===- Tests --------------------------------------------------------------===//

// Runs follow each other at once, and after pauses in which workers fall asleep.
static void runsFollowEachOther() {
  current = "runs that follow each other";
  for (unsigned threads : {2u, 3u, 5u}) {
    adrt::ThreadPool pool;
    pool.setThreads(threads);
    for (int round = 0; round < 700; ++round) {
      EXPECT(runsEachTileOnce(pool, 2 + round % 11));
      jitter();
    }
  }
}

// Pools end while their workers start, spin, sleep, or have just been woken.
static void poolsEnd() {
  current = "pools that end";
  for (int round = 0; round < 250; ++round) {
    adrt::ThreadPool pool;
    pool.setThreads(2 + static_cast<unsigned>(round) % 4);
    for (int run = 0; run < round % 3; ++run)
      EXPECT(runsEachTileOnce(pool, 7));
    if (round % 2)
      pool.setThreads(2);
    jitter();
    EXPECT(runsEachTileOnce(pool, 3));
    if (round % 5 == 0)
      jitter();
  }
}

/// A kernel starts from the kernel of another pool, as programs of several hosts do side by side.
static void poolsAreApart() {
  current = "pools of several threads";
  std::atomic<int> wrong{0};
  auto work = [](void *state) -> void * {
    adrt::ThreadPool pool;
    pool.setThreads(3);
    for (int round = 0; round < 300; ++round)
      if (!runsEachTileOnce(pool, 1 + round % 9))
        ++*static_cast<std::atomic<int> *>(state);
    return nullptr;
  };
  pthread_t hosts[3];
  for (pthread_t &host : hosts)
    EXPECT(pthread_create(&host, nullptr, work, &wrong) == 0);
  for (pthread_t host : hosts)
    pthread_join(host, nullptr);
  EXPECT(wrong == 0);
}

// Whatever workers were about to do when the process forked.
static void forksFindWorkersAnywhere() {
  current = "a forked process";
  adrt::ThreadPool pool;
  pool.setThreads(3);
  for (int round = 0; round < 40; ++round) {
    EXPECT(runsEachTileOnce(pool, 9));
    pid_t child = fork();
    if (child == 0) {
      alarm(1); // a child inherits none
      bool right = runsEachTileOnce(pool, 9) && runsEachTileOnce(pool, 2);
      pool.setThreads(2);
      _exit(right && runsEachTileOnce(pool, 5) ? 0 : 1);
    }
    int status = 1;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    ++progress;
  }
}

int main() {
  struct sigaction action = {};
  action.sa_handler = onAlarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  alarm(1);
  return unit::runTests("adrt-pool-unit",
                        {runsFollowEachOther, poolsEnd, poolsAreApart, forksFindWorkersAnywhere});
}
