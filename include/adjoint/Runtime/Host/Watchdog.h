/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Looks after kernels that may never end. A device cannot be made to drop one, and a thread that waits for it
   cannot be stopped, so that the host is told on another thread, and has nothing left to do but to keep what
   it has and to end the process. */
#ifndef ADJOINT_RUNTIME_HOST_WATCHDOG_H
#define ADJOINT_RUNTIME_HOST_WATCHDOG_H

#include "adjoint/Runtime/adrt.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace adrt {

class Watchdog {
public:
  /// What is told, on the watchdog's thread, when a kernel takes longer than it may: its name and place.
  using Expired = std::function<void(const std::string &kernel, const adrt_site &site)>;

  Watchdog(std::chrono::duration<double> limit, Expired expired);
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// Between the two the kernel is watched.
  void begin(const char *kernel, const adrt_site *site);
  void end();

private:
  void watch();

  const std::chrono::steady_clock::duration limit;
  const Expired expired;
  std::mutex mutex;
  std::condition_variable changed;
  bool watching = false, stopping = false;
  std::chrono::steady_clock::time_point deadline;
  const char *kernel = "";
  adrt_site site = {"", ""};
  std::thread thread; // the last one: it uses all others
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_WATCHDOG_H
