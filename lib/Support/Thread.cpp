/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Support/Thread.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

using namespace adrt;

using Body = std::function<void()>;

static void *callBody(void *argument) {
  std::unique_ptr<Body> body(static_cast<Body *>(argument));
  (*body)();
  return nullptr;
}

bool Thread::start(Body body) {
  auto given = std::make_unique<Body>(std::move(body));
  errno = pthread_create(&thread, nullptr, callBody, given.get());
  if (errno != 0)
    return false;
  (void)given.release(); // of the thread now
  isStarted = true;
  return true;
}

void Thread::join() {
  if (std::exchange(isStarted, false))
    pthread_join(thread, nullptr);
}

bool Thread::startDetached(Body body) {
  Thread started;
  if (!started.start(std::move(body)))
    return false;
  pthread_detach(started.thread);
  return true;
}

void adrt::runOnThreads(unsigned count, const std::function<void(unsigned)> &body) {
  std::vector<Thread> threads(std::max(count, 1U) - 1);
  // If one thread does not start, the next ones hardly would.
  unsigned next = 1;
  while (next < count && threads[next - 1].start([&body, next] { body(next); }))
    ++next;
  if (count > 0)
    body(0);
  for (; next < count; ++next)
    body(next);
  for (Thread &thread : threads)
    thread.join();
}
