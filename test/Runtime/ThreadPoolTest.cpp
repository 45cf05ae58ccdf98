// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops of one caller and of several callers, in a process that sleeps, forks and exits.
#include "JitteredPool.h"

/// A pool never shrinks, so the tests of a pool of two threads come before those of a pool of three.
template <unsigned threads> class PoolOf : public testing::Test {
protected:
  static void SetUpTestSuite() {
    watchProgress();
    pool().reserve(threads);
  }
};
using PoolOfTwo = PoolOf<2>;
using PoolOfThree = PoolOf<3>;

/// A loop whose ranges end only when the test lets them.
struct Blocked {
  sem_t begun, go;
  Blocked() {
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
  }
  static void wait(void *closure, int64_t, int64_t) {
    auto *blocked = static_cast<Blocked *>(closure);
    sem_post(&blocked->begun);
    sem_wait(&blocked->go);
  }
  static void *run(void *closure) {
    pool().run(2, INT64_MAX, 2, wait, closure);
    return nullptr;
  }
};

/// Runs the function on another thread, on ranges that the test ends.
struct OtherThread {
  Blocked blocked;
  std::vector<pthread_t> threads = std::vector<pthread_t>(1);
  explicit OtherThread(void *(*function)(void *)) { startThreads(threads, function, &blocked); }
  void waitUntilBlocked() { sem_wait(&blocked.begun); }
  void goOn() { sem_post(&blocked.go); }
  void join() { joinThreads(threads); }
};

// A caller that finds all threads busy runs its loop alone.
TEST_F(PoolOfTwo, BusyThreadsAreNotWaitedFor) {
  current = "a loop during another one";
  OtherThread other(Blocked::run);
  other.waitUntilBlocked();
  other.waitUntilBlocked();
  EXPECT_EQ(runLoop(2, 7), 1);
  other.goOn();
  other.goOn();
  other.join();
  EXPECT_EQ(runLoop(2, 7), 2);
}

/// A program that waits for the test twice, the second time in a pause, as it waits for its host.
void *runProgram(void *state) {
  auto *blocked = static_cast<Blocked *>(state);
  adrt::ThreadPool::Caller caller, nested;
  Blocked::wait(blocked, 0, 0);
  adrt::ThreadPool::Pause pause;
  Blocked::wait(blocked, 0, 0);
  return nullptr;
}

// A thread that runs a program counts as running, except while it waits for its host.
TEST_F(PoolOfTwo, CallersCountAsRunning) {
  current = "a caller that waits for its host";
  OtherThread other(runProgram);
  other.waitUntilBlocked();
  EXPECT_EQ(runLoop(2, 7), 1);
  other.goOn();
  other.waitUntilBlocked();
  EXPECT_EQ(runLoop(2, 7), 2);
  other.goOn();
  other.join();
  EXPECT_EQ(runLoop(2, 7), 2);
}

// No worker sleeps while there is work. The caller cannot take the range back here: its own range waits for
// the worker.
TEST_F(PoolOfTwo, WorkersWakeUp) {
  current = "ranges that wait for each other";
  auto meet = [](void *barrier, int64_t, int64_t) {
    pthread_barrier_wait(static_cast<pthread_barrier_t *>(barrier));
  };
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  for (int round = 0; round < 1000; ++round) {
    pool().run(2, INT64_MAX, 2, meet, &barrier);
    ++progress;
    jitter();
  }
}

/// The signal masks of two ranges that run on two threads.
struct Masks {
  pthread_barrier_t barrier;
  sigset_t masks[2];

  static void look(void *closure, int64_t begin, int64_t) {
    auto *masks = static_cast<Masks *>(closure);
    pthread_barrier_wait(&masks->barrier);
    pthread_sigmask(SIG_SETMASK, nullptr, &masks->masks[begin]);
  }
};

// The threads of the host handle Ctrl-C.
TEST_F(PoolOfTwo, WorkersLeaveSignalsToTheHost) {
  current = "ranges that read their signal masks";
  Masks masks;
  pthread_barrier_init(&masks.barrier, nullptr, 2);
  pool().run(2, INT64_MAX, 2, Masks::look, &masks);
  EXPECT_FALSE(sigismember(&masks.masks[0], SIGINT));
  EXPECT_TRUE(sigismember(&masks.masks[1], SIGINT));
  EXPECT_FALSE(sigismember(&masks.masks[1], SIGSEGV));
}

/// The CPUs that two ranges on two threads may use.
struct Affinities {
  pthread_barrier_t barrier;
  cpu_set_t sets[2];

  static void look(void *closure, int64_t begin, int64_t) {
    auto *found = static_cast<Affinities *>(closure);
    pthread_barrier_wait(&found->barrier);
    sched_getaffinity(0, sizeof(cpu_set_t), &found->sets[begin]);
  }
  static bool areEqual() {
    Affinities found;
    pthread_barrier_init(&found.barrier, nullptr, 2);
    pool().run(2, INT64_MAX, 2, look, &found);
    return CPU_EQUAL(&found.sets[0], &found.sets[1]);
  }
};

// A worker starts and wakes on another CPU than its caller's, and may then use every CPU that the caller may
// use. This also holds when a caller that may use a single CPU wakes a worker that has just been woken.
TEST_F(PoolOfTwo, WorkersMayUseAllCPUs) {
  current = "ranges that read their affinity";
  timespec untilAsleep = {0, 2000000};
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    bool right = Affinities::areEqual(); // on a thread that has just started
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    for (int round = 0; round < 20; ++round) {
      nanosleep(&untilAsleep, nullptr);
      EmptyLoop first(INT64_MAX);
      sched_setaffinity(0, sizeof(one), &one);
      EmptyLoop second(INT64_MAX);
      sched_setaffinity(0, sizeof(all), &all);
      nanosleep(&untilAsleep, nullptr);
      right &= Affinities::areEqual();
    }
    _exit(right ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// Programs that run at the same time: each counts as running before the first loop begins.
struct Programs {
  pthread_barrier_t begun;
  std::atomic<int> wrong{0}, divided{0};
  explicit Programs(unsigned count) { pthread_barrier_init(&begun, nullptr, count); }

  static void *run(void *state) {
    auto *programs = static_cast<Programs *>(state);
    adrt::ThreadPool::Caller caller;
    pthread_barrier_wait(&programs->begun);
    for (int round = 0; round < 500; ++round) {
      int ranges = runLoop(3, 1 + round % 9);
      programs->wrong += ranges == 0;
      programs->divided += ranges > 1;
    }
    pthread_barrier_wait(&programs->begun);
    return nullptr;
  }
};

// Two programs with three threads each have three running threads together, not six.
TEST_F(PoolOfThree, CallersShareThreads) {
  current = "loops of several callers";
  for (unsigned callers : {2u, 5u}) {
    Loop::maxRunning = 0;
    Programs programs(callers);
    std::vector<pthread_t> hosts(callers);
    startThreads(hosts, Programs::run, &programs);
    joinThreads(hosts);
    EXPECT_EQ(programs.wrong, 0);
    EXPECT_EQ(programs.divided > 0, callers < 3);
    EXPECT_LE(Loop::maxRunning, static_cast<int>(std::max(callers, 3u)));
  }
}

// One loop follows another immediately, or after a pause in which workers fall asleep.
TEST_F(PoolOfThree, LoopsFollowEachOther) {
  current = "loops that follow each other";
  for (unsigned threads : {1u, 2u, 3u, 5u})
    for (int round = 0; round < 700; ++round) {
      int64_t units = 1 + round % 11;
      EXPECT_EQ(runLoop(threads, units), static_cast<int>(std::min<int64_t>({units, threads, 3})));
      jitter();
    }
}

TEST_F(PoolOfThree, LoopsWithLittleWorkStayOnOneThread) {
  current = "loops with little work";
  adrt::HandOff handOff = {1000, 100};
  EXPECT_EQ(adrt::countThreads(100, 0, 8, handOff), 1);
  EXPECT_EQ(adrt::countThreads(100, 7999, 8, handOff), 1);
  EXPECT_EQ(adrt::countThreads(100, 8000, 8, handOff), 2);
  EXPECT_EQ(adrt::countThreads(100, 12000, 8, handOff), 3);
  EXPECT_EQ(adrt::countThreads(100, 1000000, 8, handOff), 8);
  EXPECT_EQ(adrt::countThreads(5, 1000000, 8, handOff), 5);
  // Threads are woken one by one: the last of a hundred threads begins after 10 us.
  EXPECT_EQ(adrt::countThreads(1000, 1000000, 1000, handOff), 100);
  EXPECT_EQ(adrt::countThreads(1000, INT64_MAX, 1000, handOff), 1000);
  EXPECT_EQ(adrt::countThreads(0, INT64_MAX, 1000, handOff), 1);
  EXPECT_EQ(adrt::countThreads(9, 0, 0, handOff), 1);
  EXPECT_EQ(runLoop(3, 9, 0), 1);
  EXPECT_EQ(runLoop(3, 9, 100000000), 3);
}

/// The number of ranges of a loop of two units. Each unit takes `nanosecondsOfUnit`, and
/// `nanosecondsOfSharing` more in a range of its own.
int runTried(uint64_t identity, int64_t estimate, int64_t nanosecondsOfUnit,
             int64_t nanosecondsOfSharing = 0) {
  struct Busy {
    std::atomic<int> ranges{0};
    int64_t nanoseconds, ofSharing;
  } busy{{}, nanosecondsOfUnit, nanosecondsOfSharing};
  // Sleeps, so that two threads are faster even if other programs use the CPUs.
  auto wait = [](void *closure, int64_t begin, int64_t end) {
    auto *busy = static_cast<Busy *>(closure);
    ++busy->ranges;
    timespec time = {0, (end - begin) * busy->nanoseconds + (end - begin < 2 ? busy->ofSharing : 0)};
    // The alarm that watches progress ends a sleep early.
    while (time.tv_nsec && nanosleep(&time, &time) != 0)
      ;
  };
  pool().runTried(identity, 2, estimate, 2, wait, &busy);
  ++progress;
  return busy.ranges;
}

// All loops are estimated to take 400 us. A delayed thread may need some milliseconds to wake up.
TEST_F(PoolOfThree, TriedLoopsRunTheFasterWay) {
  current = "loops that are tried";
  int ofShort = 0, ofLong = 0;
  for (int round = 0; round < 300; ++round)
    ofShort += runTried(1, 400000, 0) > 1;
  EXPECT_GE(ofShort, 1);
  EXPECT_LE(ofShort, 8);
  for (int round = 0; round < 60; ++round)
    ofLong += runTried(2, 400000, 10000000) > 1;
  EXPECT_GE(ofLong, 20);
  int more = 0;
  while (runTried(2, 400000, 10000000, 20000000) > 1 && more < 100)
    ++more;
  EXPECT_GT(more, 0);
  EXPECT_LT(more, 40);
  EXPECT_EQ(runTried(3, INT64_MAX, 0), 2);
}

// In a sequence of loops, each too short to pay for waking a thread, threads are awake after the first loops.
TEST_F(PoolOfThree, ShortLoopsWakeThreadsTogether) {
  current = "short loops in a sequence";
  timespec pause = {0, 2000000};
  runLoop(3, 9); // starts the threads
  int64_t work = pool().getCosts().getAsleep().latency * 4;
  int divided = 0;
  nanosleep(&pause, nullptr);
  for (int round = 0; round < 20; ++round)
    divided += runLoop(3, 9, work) > 1;
  EXPECT_GE(divided, 5);
  EXPECT_LT(divided, 20);
}

/// Runs a loop that ends before a thread wakes for it, then loops that are too short to pay for waking a
/// thread. Counts the short loops that are divided.
void *runLateLoops(void *divided) {
  if (EmptyLoop(INT64_MAX).own < 2)
    return nullptr; // a thread was awake
  int64_t work = pool().getCosts().getSpinning().latency * 8,
          enoughToWake = pool().getCosts().getAsleep().latency * 8;
  timespec gap = {0, 1000};
  for (int64_t missed = work; missed < enoughToWake; missed += work) {
    nanosleep(&gap, nullptr);
    *static_cast<int *>(divided) += EmptyLoop(work).ranges > 1;
  }
  return nullptr;
}

// A worker that woke too late for one loop is awake for the next loops.
TEST_F(PoolOfThree, LateWorkersWaitForTheNextLoop) {
  current = "loops after one that ended too soon";
  timespec untilAsleep = {0, 2000000};
  int divided = 0;
  for (int round = 0; round < 20; ++round) {
    nanosleep(&untilAsleep, nullptr);
    std::vector<pthread_t> caller(1); // has not missed anything yet
    startThreads(caller, runLateLoops, &divided);
    joinThreads(caller);
  }
  EXPECT_GT(divided, 0);
}

TEST_F(PoolOfThree, IdleThreadsUseNoCPU) {
  current = "threads without work";
  timespec pause = {0, 5000000}, interval = {0, 100000000};
  EXPECT_EQ(runLoop(3, 9), 3);
  nanosleep(&pause, nullptr);
  // The median of three intervals: a virtual machine may count time in which the host has taken the CPU away.
  double used[3];
  for (double &seconds : used) {
    double before = cpuSeconds();
    nanosleep(&interval, nullptr);
    seconds = cpuSeconds() - before;
  }
  std::sort(used, used + 3);
  EXPECT_LT(used[1], 0.001);
}

// The process may fork while workers are in any state.
TEST_F(PoolOfThree, ForksFindWorkersInAnyState) {
  current = "a forked process";
  for (int round = 0; round < 40; ++round) {
    EXPECT_EQ(runLoop(3, 9), 3);
    adrt::ThreadPool::Caller caller;
    pid_t child = fork();
    if (child == 0) {
      alarm(1); // a child inherits none
      _exit(runLoop(3, 9) == 3 && runLoop(3, 2) == 2 && runLoop(2, 5) == 2 ? 0 : 1);
    }
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ++progress;
  }
}

// A program of another thread does not count as running in the child.
TEST_F(PoolOfThree, ForksFindNoOtherCallers) {
  current = "a fork during a program of another thread";
  OtherThread other(runProgram);
  other.waitUntilBlocked();
  EXPECT_EQ(runLoop(3, 9), 2);
  pid_t child = fork();
  if (child == 0) {
    alarm(1); // a child inherits none
    _exit(runLoop(3, 9) == 3 ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  other.goOn();
  other.goOn();
  other.join();
}

// A process may exit without waiting for threads that run loops.
TEST_F(PoolOfThree, ProcessesExitWhileLoopsRun) {
  current = "a process that exits";
  auto work = [](void *) -> void * {
    while (true)
      runLoop(3, 9);
  };
  for (int round = 0; round < 10; ++round) {
    pid_t child = fork();
    if (child == 0) {
      alarm(1);
      std::vector<pthread_t> hosts(2);
      startThreads(hosts, work, nullptr);
      for (uint64_t begun = progress; progress < begun + 5;)
        jitter();
      std::exit(0);
    }
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ++progress;
  }
}
