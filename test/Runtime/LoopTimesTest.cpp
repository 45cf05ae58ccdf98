// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which way short loops go, by what they took.

#include "adjoint/Runtime/Host/LoopTimes.h"
#include "Unit.h"

using adrt::LoopTimes;

// One object, as in the pool: it is large.
static LoopTimes times;

/// Goes through all trials of a loop.
static LoopTimes::Record &tried(uint64_t identity, int64_t alone, int64_t shared) {
  LoopTimes::Record &record = times.find(identity, 4096, 2);
  for (uint32_t run = 0; run < LoopTimes::trials; ++run) {
    EXPECT(record.isTrying());
    EXPECT(record.prefersOneThread() == (run / LoopTimes::trialsOfWay != 1));
    bool onOneThread = record.prefersOneThread();
    // The first run of each way is slow, and does not count.
    record.add(onOneThread, (onOneThread ? alone : shared) * (run % LoopTimes::trialsOfWay ? 1 : 10), 4096);
  }
  EXPECT(!record.isTrying());
  return record;
}

static void fasterWayWins() {
  EXPECT(tried(1, 1000, 600).prefersOneThread() == false);
  EXPECT(tried(2, 1000, 800).prefersOneThread() == false);
  EXPECT(tried(3, 1000, 801).prefersOneThread() == true);
  EXPECT(tried(4, 1000, 5000).prefersOneThread() == true);
  EXPECT(tried(5, 0, 0).prefersOneThread() == false);
}

// What single runs lose, others save. When nothing is saved for long, the other threads sleep between the
// runs, or have lost their processors.
static void sharedLoopsGoOnBeingTimed() {
  LoopTimes::Record &record = tried(6, 100000, 60000);
  for (int round = 0; round < 100; ++round) {
    record.addShared(500000, 4096);
    for (int run = 0; run < 40; ++run)
      record.addShared(60000, 4096);
  }
  EXPECT(!record.prefersOneThread());
  int slow = 0;
  while (!record.prefersOneThread() && slow < 1000) {
    record.addShared(120000, 4096);
    ++slow;
  }
  EXPECT(slow > 20 && slow < 100);
}

// Rare runs that lose much are as bad as many that lose little.
static void rareLossesAddUp() {
  LoopTimes::Record &record = tried(8, 10000, 6000);
  int stalls = 0;
  for (; !record.prefersOneThread() && stalls < 100; ++stalls) {
    record.addShared(3000000, 4096);
    for (int run = 0; run < 100; ++run)
      record.addShared(6000, 4096);
  }
  EXPECT(stalls >= 1 && stalls < 5);
}

// Loops of sizes that only the run knows share a record up to twice the size.
static void timesFollowTheSize() {
  LoopTimes::Record &record = tried(7, 1000000, 600000);
  for (int run = 0; run < 50; ++run)
    record.addShared(1190000, 8190);
  EXPECT(!record.prefersOneThread());
  EXPECT(record.nanosecondsOnOneThread(6144) == 1500000);
  for (int run = 0; run < 200; ++run)
    record.addShared(1190000, 4200);
  EXPECT(record.prefersOneThread());
}

static void loopsDifferInCodeSizeAndThreads() {
  LoopTimes::Record &record = tried(11, 1000, 5000);
  EXPECT(&times.find(11, 5000, 2) == &record && &times.find(11, 8191, 2) == &record);
  EXPECT(times.find(11, 8192, 2).isTrying() && times.find(11, 5000, 3).isTrying() &&
         times.find(12, 5000, 2).isTrying());
  EXPECT(!times.find(11, 5000, 2).isTrying());
}

static void loopsAreTriedAgain() {
  LoopTimes::Record &record = tried(21, 1000, 5000);
  int runs = 0;
  while (!record.isTrying() && runs < 100000) {
    record.skip();
    ++runs;
  }
  EXPECT(runs > 1000 && runs < 100000);
  EXPECT(record.nanosecondsOnOneThread(7) == 7);
  // What it took on one thread stays.
  EXPECT(!tried(21, 9000, 700).prefersOneThread() && record.nanosecondsOnOneThread(4096) == 1000);
}

// A loop that loses again and again is tried less and less often.
static void lossesDelayTheNextTrial() {
  int before = 0;
  for (int losses = 0; losses < 3; ++losses) {
    LoopTimes::Record &record = tried(22, 100000, 60000);
    for (int run = 0; run < 1000 && !record.prefersOneThread(); ++run)
      record.addShared(1000000, 4096);
    int runs = 0;
    for (; !record.isTrying() && runs < 1000000; ++runs)
      record.skip();
    EXPECT(runs > before * 3 / 2 && runs < 1000000);
    before = runs;
  }
}

// More loops than there are records: those that run have one, and no other one's.
static void oldLoopsMakePlace() {
  for (uint64_t identity = 1000; identity < 9000; ++identity)
    EXPECT(tried(identity, 1000, identity % 2 ? 5000 : 500).prefersOneThread() == (identity % 2 == 1));
}

int main() {
  return unit::runTests("adrt-loop-times-unit",
                        {fasterWayWins, sharedLoopsGoOnBeingTimed, rareLossesAddUp, timesFollowTheSize,
                         loopsDifferInCodeSizeAndThreads, loopsAreTriedAgain, lossesDelayTheNextTrial,
                         oldLoopsMakePlace});
}
