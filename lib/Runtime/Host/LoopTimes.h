/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The times of short loops on one thread and on several threads. The compiler estimates the time of a loop
   for operands in memory. With operands in a cache a loop takes a tenth of the estimate, and the hand-off to
   other threads may cost more than it saves. So loops that are estimated to be short are tried both ways, and
   then run the faster way. Loops that run on several threads are still timed: the other threads may fall
   asleep between the runs, or lose their CPUs. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_LOOPTIMES_H
#define ADJOINT_LIB_RUNTIME_HOST_LOOPTIMES_H

#include <atomic>
#include <cstdint>

namespace adrt {

/// Several threads may use it at the same time. When they try the same loop, runs may be missed in the
/// counts.
class LoopTimes {
public:
  /// The number of runs that are timed on one thread, then on several threads, then on one thread again. The
  /// fastest run of each way counts: the first runs of a process are slow, and so is a run that reads from
  /// the caches of other CPUs.
  static constexpr uint32_t trialsOfWay = 4, trials = 3 * trialsOfWay;
  /// Loops with a larger estimate are not tried: the cost of waking a thread is small against their time.
  static constexpr int64_t maxNanoseconds = 400000;

  class Record {
  public:
    /// Whether the next run uses one thread: in the first and the last trials, and when several threads save
    /// less than a fifth. A smaller gain is lost when the next loop reads from the caches of other CPUs.
    bool prefersOneThread() const;
    /// Whether the trials are not over.
    bool isTrying() const { return runs.load(std::memory_order_relaxed) < trials; }
    // Runs of one record may have different sizes, and their estimates differ by a factor of up to 2. Times
    // are scaled to the minimum estimate of the record.

    /// Adds the time of a run in the trials.
    void add(bool onOneThread, int64_t nanoseconds, int64_t estimate);
    /// Adds the time of a run on several threads after the trials. When such runs have lost a part of a
    /// millisecond against one thread, the next runs use one thread.
    void addShared(int64_t nanoseconds, int64_t estimate);
    /// The time of the fastest run on one thread; `estimate` until the trials are over.
    int64_t nanosecondsOnOneThread(int64_t estimate) const;
    /// Counts a run after the trials. After many runs the loop is tried again: another program may have
    /// disturbed the trials, or the runs after them. Each consecutive loss doubles the number of runs until
    /// then, at most four times.
    void skip();

  private:
    friend class LoopTimes;
    std::atomic<uint64_t> key{0};
    std::atomic<uint32_t> runs{0};
    // Minimum times on one thread and on several, scaled to the minimum estimate of the record; 0: none yet.
    std::atomic<int64_t> alone{0}, shared{0};
    // Nanoseconds that runs on several threads have lost after the trials, less those that they have saved.
    std::atomic<int64_t> lost{0};
    std::atomic<uint32_t> losses{0}; // how often in succession the loop went back to one thread
  };

  /// The record of a loop. The key is a number that identifies its code, the power of two of its estimate in
  /// nanoseconds, and the number of threads. A loop without a record replaces the record of another loop.
  Record &find(uint64_t identity, int64_t nanoseconds, unsigned threads);

private:
  static constexpr unsigned size = 1024, ways = 4; // a set-associative cache
  Record records[size];
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_LOOPTIMES_H
