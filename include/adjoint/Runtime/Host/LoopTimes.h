/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   How long short loops have taken on one thread and on several. What the compiler estimates is for operands
   in memory; in a cache a loop takes a tenth of that, and then the hand-off to other threads costs more than
   they save. So loops that are estimated to be short are tried both ways, and run as was faster. Those that
   are shared go on being timed: the other threads may fall asleep between the runs, or lose their
   CPUs. */
#ifndef ADJOINT_RUNTIME_HOST_LOOPTIMES_H
#define ADJOINT_RUNTIME_HOST_LOOPTIMES_H

#include <atomic>
#include <cstdint>

namespace adrt {

/// Callers on several threads may use it at once; when they try the same loop they may count a run less.
class LoopTimes {
public:
  /// Runs that are timed on one thread, then on several, then on one again. The fastest of each way counts:
  /// the first ones of a process are slow, and so is one that reads from the caches of other CPUs.
  static constexpr uint32_t trialsOfWay = 4, trials = 3 * trialsOfWay;
  /// Loops that are estimated to take more nanoseconds are not tried: to wake a thread is a small part of
  /// them.
  static constexpr int64_t mostNanoseconds = 400000;

  class Record {
  public:
    /// Whether the next run goes to one thread: in the first and last trials, and when several threads save
    /// less than a fifth. Less than that is lost when the next loop reads from the caches of other
    /// CPUs.
    bool prefersOneThread() const;
    /// Whether runs are still timed.
    bool isTrying() const { return runs.load(std::memory_order_relaxed) < trials; }
    // Runs of one record may have different sizes, and so estimates up to twice the least one. Times are kept
    // in proportion to the estimate.

    /// What a run took that prefersOneThread has sent to one thread, or to several, in the trials.
    void add(bool onOneThread, int64_t nanoseconds, int64_t estimate);
    /// What a run on several threads took after the trials. When such runs have lost a part of a millisecond
    /// against one thread, the next ones go to one thread.
    void addShared(int64_t nanoseconds, int64_t estimate);
    /// The fastest run on one thread, and `estimate` until the trials are over.
    int64_t nanosecondsOnOneThread(int64_t estimate) const;
    /// Counts a run after the trials. After many of them the loop is tried again: another program may have
    /// disturbed the trials, or the runs after them. Each loss in a row doubles that number, four times at
    /// most.
    void skip();

  private:
    friend class LoopTimes;
    std::atomic<uint64_t> key{0};
    std::atomic<uint32_t> runs{0};
    // Of runs with the least estimate of this record; 0: none yet.
    std::atomic<int64_t> alone{0}, shared{0};
    std::atomic<int64_t> lost{0};    // by runs on several threads after the trials, less what they saved
    std::atomic<uint32_t> losses{0}; // how often in a row runs on several threads were given up
  };

  /// The record of a loop by a number that identifies its code, by its estimate in nanoseconds, of which the
  /// power of two counts, and by the number of threads. A loop that was not seen before, or not for long, has
  /// a new one.
  Record &find(uint64_t identity, int64_t nanoseconds, unsigned threads);

private:
  static constexpr unsigned size = 1024, ways = 4; // as a cache of so many ways
  Record records[size];
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_LOOPTIMES_H
