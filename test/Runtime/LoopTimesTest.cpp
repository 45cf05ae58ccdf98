// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which way short loops run, by their earlier times.

#include "../../lib/Runtime/Host/LoopTimes.h"
#include "gtest/gtest.h"

using adrt::LoopTimes;

// One object, as in the pool, since it is large.
static LoopTimes times;

/// Goes through all trials of a loop.
static LoopTimes::Record &tried(uint64_t identity, int64_t alone, int64_t shared) {
  LoopTimes::Record &record = times.find(identity, 4096, 2);
  for (uint32_t run = 0; run < LoopTimes::trials; ++run) {
    EXPECT_TRUE(record.isTrying());
    EXPECT_EQ(record.prefersOneThread(), run / LoopTimes::trialsOfWay != 1);
    bool onOneThread = record.prefersOneThread();
    // The first run of each way is slow; the minimum ignores it.
    record.add(onOneThread, (onOneThread ? alone : shared) * (run % LoopTimes::trialsOfWay ? 1 : 10), 4096);
  }
  EXPECT_FALSE(record.isTrying());
  return record;
}

TEST(LoopTimes, FasterWayWins) {
  EXPECT_FALSE(tried(1, 1000, 600).prefersOneThread());
  EXPECT_FALSE(tried(2, 1000, 800).prefersOneThread());
  EXPECT_TRUE(tried(3, 1000, 801).prefersOneThread());
  EXPECT_TRUE(tried(4, 1000, 5000).prefersOneThread());
  EXPECT_FALSE(tried(5, 0, 0).prefersOneThread());
}

// Savings make up for the losses of single runs. If nothing is saved for long, the other threads sleep
// between the runs, or have lost their CPUs.
TEST(LoopTimes, SharedLoopsGoOnBeingTimed) {
  LoopTimes::Record &record = tried(6, 100000, 60000);
  for (int round = 0; round < 100; ++round) {
    record.addShared(500000, 4096);
    for (int run = 0; run < 40; ++run)
      record.addShared(60000, 4096);
  }
  EXPECT_FALSE(record.prefersOneThread());
  int slow = 0;
  while (!record.prefersOneThread() && slow < 1000) {
    record.addShared(120000, 4096);
    ++slow;
  }
  EXPECT_GT(slow, 20);
  EXPECT_LT(slow, 100);
}

// Rare runs with large losses count as much as many runs with small losses.
TEST(LoopTimes, RareLossesAddUp) {
  LoopTimes::Record &record = tried(8, 10000, 6000);
  int stalls = 0;
  for (; !record.prefersOneThread() && stalls < 100; ++stalls) {
    record.addShared(3000000, 4096);
    for (int run = 0; run < 100; ++run)
      record.addShared(6000, 4096);
  }
  EXPECT_GE(stalls, 1);
  EXPECT_LT(stalls, 5);
}

// Loops of dynamic size share a record up to twice the size.
TEST(LoopTimes, TimesFollowTheSize) {
  LoopTimes::Record &record = tried(7, 1000000, 600000);
  for (int run = 0; run < 50; ++run)
    record.addShared(1190000, 8190);
  EXPECT_FALSE(record.prefersOneThread());
  EXPECT_EQ(record.nanosecondsOnOneThread(6144), 1500000);
  for (int run = 0; run < 200; ++run)
    record.addShared(1190000, 4200);
  EXPECT_TRUE(record.prefersOneThread());
}

TEST(LoopTimes, LoopsDifferInCodeSizeAndThreads) {
  LoopTimes::Record &record = tried(11, 1000, 5000);
  EXPECT_EQ(&times.find(11, 5000, 2), &record);
  EXPECT_EQ(&times.find(11, 8191, 2), &record);
  EXPECT_TRUE(times.find(11, 8192, 2).isTrying());
  EXPECT_TRUE(times.find(11, 5000, 3).isTrying());
  EXPECT_TRUE(times.find(12, 5000, 2).isTrying());
  EXPECT_FALSE(times.find(11, 5000, 2).isTrying());
}

TEST(LoopTimes, LoopsAreTriedAgain) {
  LoopTimes::Record &record = tried(21, 1000, 5000);
  int runs = 0;
  while (!record.isTrying() && runs < 100000) {
    record.skip();
    ++runs;
  }
  EXPECT_GT(runs, 1000);
  EXPECT_LT(runs, 100000);
  EXPECT_EQ(record.nanosecondsOnOneThread(7), 7);
  // The time on one thread is kept.
  EXPECT_FALSE(tried(21, 9000, 700).prefersOneThread());
  EXPECT_EQ(record.nanosecondsOnOneThread(4096), 1000);
}

// A loop with repeated losses is tried less and less often.
TEST(LoopTimes, LossesDelayTheNextTrial) {
  int before = 0;
  for (int losses = 0; losses < 3; ++losses) {
    LoopTimes::Record &record = tried(22, 100000, 60000);
    for (int run = 0; run < 1000 && !record.prefersOneThread(); ++run)
      record.addShared(1000000, 4096);
    int runs = 0;
    for (; !record.isTrying() && runs < 1000000; ++runs)
      record.skip();
    EXPECT_GT(runs, before * 3 / 2);
    EXPECT_LT(runs, 1000000);
    before = runs;
  }
}

// With more loops than records, each running loop has a record of its own.
TEST(LoopTimes, OldLoopsAreReplaced) {
  for (uint64_t identity = 1000; identity < 9000; ++identity)
    EXPECT_EQ(tried(identity, 1000, identity % 2 ? 5000 : 500).prefersOneThread(), identity % 2 == 1);
}
