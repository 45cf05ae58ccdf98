// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks for signals at intervals: taking the GIL in each poll would cost more than the iterations of most
// loops.
#include "SignalWatch.h"
#include "Gil.h"

namespace nb = nanobind;
using namespace adjoint_python;

namespace {

// Short for a user who presses Ctrl-C, and long enough to cost nothing.
constexpr long checkInterval = 20 * 1000 * 1000; // nanoseconds

/// A clock that costs less than an iteration of the smallest loop.
timespec coarseNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now;
}

timespec later(timespec time) {
  constexpr long second = 1000 * 1000 * 1000;
  time.tv_nsec += checkInterval;
  time.tv_sec += time.tv_nsec / second;
  time.tv_nsec %= second;
  return time;
}

bool isBefore(const timespec &left, const timespec &right) {
  return left.tv_sec != right.tv_sec ? left.tv_sec < right.tv_sec : left.tv_nsec < right.tv_nsec;
}

} // namespace

SignalWatch::SignalWatch() : nextCheck(later(coarseNow())) {}

bool SignalWatch::raised() {
  if (isEnding())
    return true;
  timespec now = coarseNow();
  if (exception || isBefore(now, nextCheck))
    return exception != nullptr;
  nextCheck = later(now);
  GilAcquire gil;
  if (PyErr_CheckSignals() == 0)
    return false;
  try {
    nb::raise_python_error();
  } catch (const nb::python_error &) {
    exception = std::current_exception();
  }
  return true;
}

void SignalWatch::rethrow() const {
  if (exception)
    std::rethrow_exception(exception);
}
