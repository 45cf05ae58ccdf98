// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Threads that request the GIL after the end of Python sleep until the process exits.
#include "Gil.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>

using namespace adjoint_python;

namespace {

std::atomic<bool> ending{false};
std::thread::id endingThread; // set before `ending`
std::atomic<int> outside{0};  // threads that have released the GIL
std::atomic<int> entering{0}; // threads that wait for the GIL

[[noreturn]] void sleepForever() {
  --outside;
  while (true)
    pause();
}

/// Counts a thread during its wait for the GIL.
class Entrance {
public:
  Entrance() {
    ++entering;
    if (!isEnding())
      return;
    --entering;
    sleepForever();
  }
  ~Entrance() { --entering; }
};

template <typename Condition> void waitUntil(std::chrono::milliseconds limit, Condition condition) {
  auto end = std::chrono::steady_clock::now() + limit;
  while (!condition() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace

bool adjoint_python::isEnding() { return ending && std::this_thread::get_id() != endingThread; }

void adjoint_python::endThreads() {
  // The thread that runs exit handlers may still call programs.
  endingThread = std::this_thread::get_id();
  ending = true;
  PyThreadState *state = PyEval_SaveThread();
  waitUntil(std::chrono::seconds(60), [] { return entering == 0; });
  // Programs stop at their next poll; Python does not wait longer for others.
  waitUntil(std::chrono::seconds(1), [] { return outside == 0; });
  PyEval_RestoreThread(state);
}

GilRelease::GilRelease() : state(PyEval_SaveThread()) { ++outside; }

GilRelease::~GilRelease() {
  {
    Entrance entrance;
    PyEval_RestoreThread(state);
  }
  --outside;
}

GilAcquire::GilAcquire() {
  Entrance entrance;
  state = PyGILState_Ensure();
}
