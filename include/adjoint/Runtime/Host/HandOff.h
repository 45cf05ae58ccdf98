/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What it costs to hand a part of a loop to another thread. Both costs are measured once per process, when
   the first threads start; until then they are estimates. */
#ifndef ADJOINT_RUNTIME_HOST_HANDOFF_H
#define ADJOINT_RUNTIME_HOST_HANDOFF_H

#include <atomic>
#include <cstdint>

namespace adrt {

/// The cost of a hand-off in nanoseconds.
struct HandOff {
  int64_t latency; ///< from the post of an empty range until the caller knows that it is done
  int64_t post;    ///< the part of the latency that the caller spends, for each thread
};

/// The number of threads that pays off for a loop that takes `nanoseconds` on one thread: at least 1, at most
/// `units` and `threads`. INT64_MAX nanoseconds pay off for all threads.
unsigned countThreads(int64_t units, int64_t nanoseconds, unsigned threads, const HandOff &handOff);

/// The costs of hand-offs in this process.
class HandOffCosts {
public:
  /// To a thread that polls its mailbox.
  HandOff getSpinning() const { return {spinningLatency, spinningPost}; }
  void setSpinning(const HandOff &cost) {
    spinningLatency = cost.latency;
    spinningPost = cost.post;
  }

  /// To a thread that sleeps on its condition variable.
  HandOff getAsleep() const { return {asleepLatency, asleepPost}; }
  void setAsleep(const HandOff &cost) {
    asleepLatency = cost.latency;
    asleepPost = cost.post;
  }

  /// How often a thread polls before it sleeps.
  int getSpinRounds() const { return spinRounds; }
  void setSpinRounds(int rounds) { spinRounds = rounds; }

private:
  std::atomic<int64_t> spinningLatency{1000}, spinningPost{200};
  std::atomic<int64_t> asleepLatency{40000}, asleepPost{4000};
  std::atomic<int> spinRounds{1000};
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_HANDOFF_H
