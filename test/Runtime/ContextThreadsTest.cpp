// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of parallel loops through the C ABI of the runtime, as compiled code uses it.
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Support/FloatingPointState.h"
#include "gtest/gtest.h"

#include <ctime>
#include <deque>
#include <limits>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static const adrt_site site = {"p.mlir:3:8", "ad.add"};

struct Tiles {
  adrt_context *context;
  std::vector<std::atomic<int>> visits;
  std::atomic<int> nested{0}, subnormals{0};
};

static void visit(void *closure, int64_t begin, int64_t end) {
  auto *tiles = static_cast<Tiles *>(closure);
  volatile float smallest = std::numeric_limits<float>::min();
  tiles->subnormals += smallest / 2 > 0;
  for (int64_t tile = begin; tile < end; ++tile)
    ++tiles->visits[static_cast<size_t>(tile)];
  adrt_parallel_for(
      tiles->context, 3, INT64_MAX,
      [](void *state, int64_t from, int64_t to) {
        *static_cast<std::atomic<int> *>(state) += static_cast<int>(to - from);
      },
      &tiles->nested);
}

TEST(ContextThreads, EveryTileRunsOnce) {
  for (unsigned threads : {1u, 2u, 5u})
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      adrt_context context;
      context.setThreads(threads);
      Tiles tiles{&context, std::vector<std::atomic<int>>(static_cast<size_t>(count))};
      int rounds = 50;
      for (int round = 0; round < rounds; ++round)
        adrt_parallel_for(&context, count, INT64_MAX, visit, &tiles);
      for (std::atomic<int> &visits : tiles.visits)
        EXPECT_EQ(visits, rounds);
      EXPECT_EQ(tiles.nested % 3, 0);
      EXPECT_EQ(tiles.nested == 0, count == 0);
    }
}

// Independent loops: each unit runs once, however long the other loops are.
TEST(ContextThreads, UnitsOfEachLoopRunOnce) {
  const std::vector<std::pair<int64_t, int64_t>> unitsAndNanoseconds[] = {
      {{1, 10000}, {1, 1}},
      {{7, 3}, {1000, 20000}, {1, 20000000}, {64, 64}},
      {{3, 500}, {0, 700}, {int64_t(1) << 12, 1000}, {5, 100000}}};
  for (unsigned threads : {1u, 2u, 5u})
    for (const auto &shapes : unitsAndNanoseconds) {
      adrt_context context;
      context.setThreads(threads);
      std::deque<Tiles> tiles;
      std::vector<adrt_loop> loops;
      for (auto [units, nanoseconds] : shapes) {
        Tiles &loop = tiles.emplace_back();
        loop.context = &context;
        loop.visits = std::vector<std::atomic<int>>(static_cast<size_t>(units));
        loops.push_back({visit, &loop, units, nanoseconds});
      }
      int rounds = 50;
      for (int round = 0; round < rounds; ++round)
        adrt_parallel_loops(&context, static_cast<int64_t>(loops.size()), loops.data());
      for (Tiles &loop : tiles)
        for (std::atomic<int> &visits : loop.visits)
          EXPECT_EQ(visits, rounds);
    }
}

// Two loops of one unit each run on two threads.
TEST(ContextThreads, IndependentLoopsRunInParallel) {
  struct Rendezvous {
    std::atomic<int> arrived{0}, met{0};
  } rendezvous;
  auto arrive = [](void *state, int64_t, int64_t) {
    auto &rendezvous = *static_cast<Rendezvous *>(state);
    ++rendezvous.arrived;
    for (time_t end = time(nullptr) + 10; rendezvous.arrived < 2 && time(nullptr) < end;)
      sched_yield();
    rendezvous.met += rendezvous.arrived == 2;
  };
  adrt_context context;
  context.setThreads(2);
  const adrt_loop loops[] = {{arrive, &rendezvous, 1, 50000000}, {arrive, &rendezvous, 1, 50000000}};
  adrt_parallel_loops(&context, 2, loops);
  EXPECT_EQ(rendezvous.met, 2);
}

#if defined(__x86_64__)
TEST(ContextThreads, ThreadsKeepSubnormals) {
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040); // as a host built with -ffast-math
  adrt_context context;
  context.setThreads(3);
  Tiles tiles{&context, std::vector<std::atomic<int>>(9)};
  context.run([&] {
    adrt_parallel_for(&context, 9, INT64_MAX, visit, &tiles);
    return ADRT_OK;
  });
  EXPECT_EQ(tiles.subnormals, 3);
  EXPECT_EQ(_mm_getcsr(), before | 0x8040); // the host's again
  _mm_setcsr(before);
}
#endif

/// Runs a loop on the threads of the context. Returns the number of its ranges, 0 unless they cover it.
static int countRanges(adrt_context &context, int64_t nanoseconds = INT64_MAX) {
  struct Sums {
    std::atomic<int64_t> units{0};
    std::atomic<int> ranges{0};
  } sums;
  auto add = [](void *state, int64_t begin, int64_t end) {
    static_cast<Sums *>(state)->units += end - begin;
    ++static_cast<Sums *>(state)->ranges;
  };
  adrt_parallel_for(&context, 100, nanoseconds, add, &sums);
  return sums.units == 100 ? sums.ranges.load() : 0;
}

TEST(ContextThreads, AForkedProcessStartsThreadsAgain) {
  adrt_context context;
  context.setThreads(3);
  EXPECT_EQ(countRanges(context), 3);
  pid_t child = fork();
  if (child == 0) {
    alarm(20); // waiting for a lost thread would take for ever
    bool right = countRanges(context) == 3;
    context.setThreads(2);
    _exit(right && countRanges(context) == 2 ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(countRanges(context), 3);
}

TEST(ContextThreads, LittleWorkStaysOnItsThread) {
  adrt_context context;
  context.setThreads(2);
  EXPECT_EQ(countRanges(context, 100), 1);
  EXPECT_EQ(countRanges(context, 1000000000), 2);
}

// A receiver that fails, and a host that runs a loop meanwhile, release all threads.
TEST(ContextThreads, FailedRunsKeepNoThreads) {
  adrt_context context, other;
  context.setThreads(2);
  other.setThreads(2);
  float data[1] = {0};
  adrt_tensor tensor = {data, nullptr, 0, ADRT_F32};
  int divided = 0;
  context.receive = [&](const char *, const adrt_tensor *, int32_t, std::string &) {
    other.run([&] {
      divided = countRanges(other);
      return ADRT_OK;
    });
    return ADRT_HOST_ERROR;
  };
  for (int round = 0; round < 5; ++round) {
    divided = 0;
    EXPECT_EQ(context.run([&] { return adrt_receive(&context, &site, "y", &tensor, 1); }), ADRT_HOST_ERROR);
    EXPECT_EQ(divided, 2);
    EXPECT_EQ(countRanges(context), 2);
  }
}

// A loop that takes seconds by its estimate runs in parts, in order; Ctrl-C leaves the rest undone, and the
// run ends with its status although the loop has none.
TEST(ContextInterrupt, LongLoopsEndBetweenParts) {
  struct Ranges {
    std::mutex mutex;
    std::vector<char> done;
  };
  auto visit = [](void *closure, int64_t begin, int64_t end) {
    auto &ranges = *static_cast<Ranges *>(closure);
    std::lock_guard<std::mutex> lock(ranges.mutex);
    for (int64_t unit = begin; unit < end; ++unit)
      ++ranges.done[static_cast<size_t>(unit)];
  };
  constexpr int64_t minute = 60ll * 1000 * 1000 * 1000;
  for (unsigned threads : {1u, 3u})
    for (size_t units : {1001, 7, 1})
      for (int stop : {0, 1, 3, 1 << 20}) {
        adrt_context context;
        context.setThreads(threads);
        int polls = 0;
        context.interrupted = [&] { return polls++ >= stop; };
        Ranges ranges;
        ranges.done.resize(units);
        int32_t status = context.run([&] {
          adrt_parallel_for(&context, static_cast<int64_t>(units), minute, visit, &ranges);
          return ADRT_OK;
        });
        auto count = static_cast<size_t>(std::count(ranges.done.begin(), ranges.done.end(), 1));
        EXPECT_EQ(static_cast<size_t>(std::count(ranges.done.begin(), ranges.done.end(), 0)), units - count);
        // One unit is one part, which nothing ends.
        bool isStopped = units > 1 && static_cast<size_t>(stop) < units && stop < 1 << 20;
        EXPECT_EQ(status, isStopped ? ADRT_INTERRUPTED : ADRT_OK) << threads << " " << units << " " << stop;
        if (!isStopped)
          EXPECT_EQ(count, units);
        else
          EXPECT_TRUE(count < units && (stop > 0 || count == 0)) << count;
        EXPECT_TRUE(std::is_sorted(ranges.done.rbegin(), ranges.done.rend()));
      }
}

// Short loops, loops of unknown time and hosts without Ctrl-C are not divided.
TEST(ContextInterrupt, OtherLoopsRunAsOne) {
  auto visit = [](void *closure, int64_t begin, int64_t end) {
    *static_cast<int64_t *>(closure) += end - begin;
  };
  for (int64_t nanoseconds : {int64_t(1000), int64_t(200) * 1000 * 1000, INT64_MAX}) {
    adrt_context context;
    context.setThreads(1);
    context.interrupted = [] { return true; };
    int64_t done = 0;
    EXPECT_EQ(context.run([&] {
      adrt_parallel_for(&context, 50, nanoseconds, visit, &done);
      return ADRT_OK;
    }),
              ADRT_OK);
    EXPECT_EQ(done, 50);
  }
  adrt_context context;
  int64_t done = 0;
  adrt_parallel_for(&context, 50, INT64_MAX / 2, visit, &done);
  EXPECT_EQ(done, 50);
}
