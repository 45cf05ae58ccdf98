// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs Python's signal handlers, such as that of Ctrl-C, while the GIL is released.
#ifndef ADJOINT_PYTHON_SIGNALWATCH_H
#define ADJOINT_PYTHON_SIGNALWATCH_H

#include <ctime>
#include <exception>

namespace adjoint_python {

class SignalWatch {
public:
  SignalWatch();
  /// Runs pending handlers, at most once per interval. Returns whether a handler has raised an exception.
  /// Python runs handlers on its main thread only; on other threads this does nothing.
  bool raised();
  /// Raises the exception of a handler, if any.
  void rethrow() const;

private:
  std::exception_ptr exception;
  timespec nextCheck;
};

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_SIGNALWATCH_H
