// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The GIL. When Python ends while daemon threads are inside a program, it kills each of them when it requests
// the GIL, which aborts the process if C++ is on the stack. Here such threads sleep instead.
#ifndef ADJOINT_PYTHON_GIL_H
#define ADJOINT_PYTHON_GIL_H

#include <nanobind/nanobind.h>

namespace adjoint_python {

/// Releases the GIL for the lifetime of this object.
class GilRelease {
public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease &) = delete;
  GilRelease &operator=(const GilRelease &) = delete;

private:
  PyThreadState *state;
};

/// Holds the GIL for the lifetime of this object, within a GilRelease.
class GilAcquire {
public:
  GilAcquire();
  ~GilAcquire() { PyGILState_Release(state); }
  GilAcquire(const GilAcquire &) = delete;
  GilAcquire &operator=(const GilAcquire &) = delete;

private:
  PyGILState_STATE state;
};

/// Whether Python is ending and this thread must not run Python code any more.
bool isEnding();

/// Called on the main thread when Python ends: from then on other threads cannot take the GIL.
void endThreads();

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_GIL_H
