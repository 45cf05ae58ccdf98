/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Measures the costs of hand-offs with empty jobs. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_HANDOFFMEASUREMENT_H
#define ADJOINT_LIB_RUNTIME_HOST_HANDOFFMEASUREMENT_H

#include "PoolWorker.h"

namespace adrt {

class ThreadPool::HandOffMeasurement {
public:
  /// The measurement ends two milliseconds from now.
  explicit HandOffMeasurement(ThreadPool &pool);

  /// Replaces the estimates of the pool by what it measures.
  void run();

private:
  /// Times of empty jobs, in nanoseconds.
  struct Samples {
    static constexpr unsigned max = 15;
    int64_t latency[max], post[max];
    unsigned count = 0;
  };

  bool sample(bool asleep, Samples &samples) const;
  void measureSpinRounds() const;

  ThreadPool &pool;
  int64_t deadline;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_HANDOFFMEASUREMENT_H
