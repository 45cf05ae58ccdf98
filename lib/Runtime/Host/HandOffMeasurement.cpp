/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "HandOffMeasurement.h"

using namespace adrt;

namespace {

// In nanoseconds: the limits of how long threads spin before they sleep, how long a thread takes to fall
// asleep, and the limit of the whole measurement.
constexpr int64_t minSpin = 10000, maxSpin = 50000, untilAsleep = 20000, maxMeasuring = 2000000;

int64_t median(int64_t *values, unsigned count, int64_t minimum, int64_t maximum) {
  std::nth_element(values, values + count / 2, values + count);
  return std::min(std::max(values[count / 2], minimum), maximum);
}

} // namespace

ThreadPool::HandOffMeasurement::HandOffMeasurement(ThreadPool &pool)
    : pool(pool), deadline(now() + maxMeasuring) {}

// Hands an empty job to a worker, and keeps the times if the worker slept as `asleep` says. A worker that
// should spin may have to be woken first. Returns false when no worker is free or the time is up.
bool ThreadPool::HandOffMeasurement::sample(bool asleep, Samples &samples) const {
  uint16_t index;
  if (pool.claim(1, &index) == 0)
    return false;
  Worker &worker = *pool.workers[index];
  if (asleep) {
    while (!worker.asleep && now() < deadline)
      relax();
    for (int64_t end = now() + untilAsleep; now() < end;)
      relax();
  }
  bool isSample = worker.asleep == asleep;
  Job job = {[](void *, int64_t, int64_t) {}, nullptr, 2, 2, {1}};
  int64_t begin = now();
  worker.post(job, 1);
  int64_t posted = now();
  // The caller spins: while it slept, the worker would fall asleep too.
  while (job.pending != 0 && now() < deadline)
    relax();
  pool.waitForEnd(job);
  int64_t end = now();
  if (isSample) {
    samples.post[samples.count] = posted - begin;
    samples.latency[samples.count++] = end - begin;
  }
  return end < deadline;
}

// Medians are clamped: on a busy machine a sample may have waited for a CPU.
void ThreadPool::HandOffMeasurement::run() {
  Samples awake, sleeping;
  while (awake.count < Samples::max && sample(false, awake))
    ;
  while (sleeping.count < 7 && sample(true, sleeping))
    ;
  if (sleeping.count >= 3)
    pool.costs.setAsleep({median(sleeping.latency, sleeping.count, 2000, 200000),
                          median(sleeping.post, sleeping.count, 500, 20000)});
  if (awake.count >= 3)
    pool.costs.setSpinning(
        {median(awake.latency, awake.count, 200, 10000), median(awake.post, awake.count, 50, 1000)});
  measureSpinRounds();
}

// A thread spins for about as long as it takes to wake it twice.
void ThreadPool::HandOffMeasurement::measureSpinRounds() const {
  constexpr int rounds = 100;
  int64_t begin = now();
  for (int round = 0; round < rounds; ++round)
    relax();
  int64_t spin = std::min(std::max(2 * pool.costs.getAsleep().latency, minSpin), maxSpin);
  pool.costs.setSpinRounds(static_cast<int>(spin * rounds / std::max<int64_t>(now() - begin, rounds)));
}
