// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Python's signal handlers, Ctrl-C first of all, while the GIL is released.
#ifndef ADJOINT_PYTHON_SIGNALWATCH_H
#define ADJOINT_PYTHON_SIGNALWATCH_H

#include <ctime>
#include <exception>

namespace adjoint_python {

class SignalWatch {
public:
  SignalWatch();
  /// Runs the handlers that are due, unless that was done a moment ago; whether one of them has raised.
  /// Python runs them on its main thread only: on others nothing happens here.
  bool raised();
  /// Raises what a handler raised, if anything.
  void rethrow() const;

private:
  std::exception_ptr exception;
  timespec nextLook;
};

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_SIGNALWATCH_H
