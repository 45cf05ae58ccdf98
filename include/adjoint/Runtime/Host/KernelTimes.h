/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The times of the kernels of a program that was compiled with profiling. */
#ifndef ADJOINT_RUNTIME_HOST_KERNELTIMES_H
#define ADJOINT_RUNTIME_HOST_KERNELTIMES_H

#include <chrono>
#include <cstdint>
#include <vector>

namespace adrt {

/// The number of executions of a kernel and their total time.
struct KernelTime {
  int64_t calls = 0;
  std::chrono::nanoseconds total{0};
  std::chrono::steady_clock::time_point started;
};

/// The times of kernels by their number. Numbers out of range are ignored.
class KernelTimes {
public:
  const std::vector<KernelTime> &get() const { return times; }
  void clear() { times.clear(); }
  void begin(int32_t kernel) {
    if (kernel < 0 || kernel >= maxKernels)
      return;
    if (times.size() <= static_cast<size_t>(kernel))
      times.resize(static_cast<size_t>(kernel) + 1);
    times[kernel].started = std::chrono::steady_clock::now();
  }
  bool contains(int32_t kernel) const { return kernel >= 0 && static_cast<size_t>(kernel) < times.size(); }
  void end(int32_t kernel) { add(kernel, std::chrono::steady_clock::now() - times[kernel].started); }
  void add(int32_t kernel, std::chrono::nanoseconds duration) {
    ++times[kernel].calls;
    times[kernel].total += duration;
  }

private:
  // No program has as many kernels; a larger number shows a broken program.
  static constexpr int32_t maxKernels = 1 << 20;

  std::vector<KernelTime> times;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_KERNELTIMES_H
