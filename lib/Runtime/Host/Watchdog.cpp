/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Runtime/Host/Watchdog.h"

using namespace adrt;
using Clock = std::chrono::steady_clock;

Watchdog::Watchdog(std::chrono::duration<double> limit, Expired expired)
    : limit(std::chrono::duration_cast<Clock::duration>(limit)), expired(std::move(expired)) {}

bool Watchdog::start() {
  return thread.start([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_one();
  thread.join();
}

void Watchdog::begin(const char *name, const adrt_site *launched) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    watching = true;
    deadline = Clock::now() + limit;
    kernel = name;
    site = launched ? *launched : adrt_site{"", ""};
  }
  changed.notify_one();
}

void Watchdog::end() {
  std::lock_guard<std::mutex> lock(mutex);
  watching = false; // the thread reads it when it wakes up
}

void Watchdog::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!stopping) {
    if (!watching) {
      changed.wait(lock);
    } else if (Clock::now() < deadline) {
      // A copy: the next kernel changes `deadline` while this thread sleeps.
      Clock::time_point until = deadline;
      changed.wait_until(lock, until);
    } else {
      watching = false; // reported once
      std::string name = kernel;
      adrt_site launched = site;
      lock.unlock();
      expired(name, launched);
      lock.lock();
    }
  }
}
