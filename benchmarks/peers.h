// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the programs of peers share: memory and the time of a call.
#ifndef ADJOINT_BENCHMARKS_PEERS_H
#define ADJOINT_BENCHMARKS_PEERS_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace peers {

struct FreeMemory {
  void operator()(float *pointer) const { std::free(pointer); }
};
using Memory = std::unique_ptr<float, FreeMemory>;

/// Numbers between -0.5 and 0.5, aligned to a cache line.
inline Memory makeNumbers(int64_t count) {
  size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
  Memory memory(static_cast<float *>(std::aligned_alloc(64, bytes)));
  if (!memory)
    std::abort();
  for (int64_t i = 0; i < count; ++i)
    memory.get()[i] = static_cast<float>(i * 7 % 13) / 13.0f - 0.5f;
  return memory;
}

/// The median over the calls, after one that warms up.
template <typename Call> double medianSeconds(int calls, Call &&call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int i = 0; i <= calls; ++i) {
    Clock::time_point start = Clock::now();
    call();
    if (i)
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds.empty() ? 0 : (seconds[(seconds.size() - 1) / 2] + seconds[seconds.size() / 2]) / 2;
}

} // namespace peers

#endif // ADJOINT_BENCHMARKS_PEERS_H
