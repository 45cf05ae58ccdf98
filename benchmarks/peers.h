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

/// Where arrays begin after a multiple of 64 bytes.
inline size_t arrayOffset() {
  const char *given = std::getenv("ADJOINT_ARRAY_OFFSET");
  return given ? std::strtoul(given, nullptr, 10) % 64 / sizeof(float) * sizeof(float) : 0;
}

struct FreeMemory {
  void operator()(float *pointer) const { std::free(pointer - arrayOffset() / sizeof(float)); }
};
using Memory = std::unique_ptr<float, FreeMemory>;

/// Numbers between -0.5 and 0.5.
inline Memory makeNumbers(int64_t count) {
  size_t bytes = (count * sizeof(float) + arrayOffset() + 63) / 64 * 64;
  float *start = static_cast<float *>(std::aligned_alloc(64, bytes));
  if (!start)
    std::abort();
  Memory memory(start + arrayOffset() / sizeof(float));
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
