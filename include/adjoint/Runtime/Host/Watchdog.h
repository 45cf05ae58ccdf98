/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Reports kernels that do not end in time. A device cannot cancel a kernel, and the thread that waits for the
   kernel cannot be stopped. So the host is called on another thread, where it can only save its outputs and
   end the process. */
#ifndef ADJOINT_RUNTIME_HOST_WATCHDOG_H
#define ADJOINT_RUNTIME_HOST_WATCHDOG_H

#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/Thread.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

namespace adrt {

class Watchdog {
public:
  /// Called on the thread of the watchdog, with the name and the site of a kernel that takes longer than the
  /// limit.
  using Expired = std::function<void(const std::string &kernel, const adrt_site &site)>;

  Watchdog(std::chrono::duration<double> limit, Expired expired);
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// False, with errno, if the thread that watches does not start. Called once, before `begin`.
  bool start();
  /// The kernel is watched between these calls.
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
  Thread thread;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_WATCHDOG_H
