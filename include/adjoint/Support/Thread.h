/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Threads that may fail to start. std::thread ends the process when the system has no more threads: by a
   limit on processes (ulimit -u), by that of a container, or by too little memory for a stack. */
#ifndef ADJOINT_SUPPORT_THREAD_H
#define ADJOINT_SUPPORT_THREAD_H

#include <functional>
#include <pthread.h>
#include <utility>

namespace adrt {

/// Runs a function. Like std::thread, it has to be joined before it is destroyed.
class Thread {
public:
  Thread() = default;
  Thread(Thread &&other) noexcept : thread(other.thread), isStarted(std::exchange(other.isStarted, false)) {}
  Thread &operator=(Thread &&) = delete;

  /// False, with errno, if the thread does not start: `body` is then not called.
  bool start(std::function<void()> body);
  /// Waits for the end of a thread that has started.
  void join();

  /// Starts a thread that nobody waits for.
  static bool startDetached(std::function<void()> body);

private:
  pthread_t thread = {};
  bool isStarted = false;
};

/// Calls `body` with each number below `count`: 0 on this thread, and each other number on a thread of its
/// own. Where a thread does not start, this thread makes the call, after the one for 0.
void runOnThreads(unsigned count, const std::function<void(unsigned)> &body);

} // namespace adrt

#endif // ADJOINT_SUPPORT_THREAD_H
