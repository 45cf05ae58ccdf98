// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Python's lock. When Python ends while other threads are still inside a program (daemon threads do that), it
// kills each of them as it asks for the lock, which ends the process in an abort once C++ is on the stack.
// Here such threads sleep instead.
#ifndef ADJOINT_PYTHON_GIL_H
#define ADJOINT_PYTHON_GIL_H

#include <nanobind/nanobind.h>

namespace adjoint_python {

/// Lets other threads of Python run, for its lifetime.
class GilRelease {
public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease &) = delete;
  GilRelease &operator=(const GilRelease &) = delete;

private:
  PyThreadState *state;
};

/// Takes the lock back for a while within a GilRelease.
class GilAcquire {
public:
  GilAcquire();
  ~GilAcquire() { PyGILState_Release(state); }
  GilAcquire(const GilAcquire &) = delete;
  GilAcquire &operator=(const GilAcquire &) = delete;

private:
  PyGILState_STATE state;
};

/// Whether Python ends, and this thread with it.
bool isEnding();

/// To be called when Python ends, on its main thread: from then on other threads do not come back to it.
void endThreads();

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_GIL_H
