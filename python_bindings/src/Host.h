// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The callbacks of a running program in Python: feeds, receivers, and checks for signals.
#ifndef ADJOINT_PYTHON_HOST_H
#define ADJOINT_PYTHON_HOST_H

#include "SignalWatch.h"
#include "adjoint/Runner/Program.h"

#include <exception>
#include <nanobind/nanobind.h>
#include <string>
#include <unordered_map>

namespace adjoint_python {

/// Calls Python functions from the callbacks of a run, which does not hold the GIL. The first exception stops
/// the program and is stored. Constructed and destroyed with the GIL held.
class Host {
public:
  /// `feeds` has a function for each name, from a shape to an array, or to a text that says why there is
  /// none. `receives` has functions of arrays.
  Host(nanobind::dict feeds, nanobind::dict receives);
  mlir::ad::runner::ProgramHost callbacks();
  /// Raises the exception of the run, if any, with a note about the location in the program.
  void rethrow(const std::string &location) const;

private:
  using Functions = std::unordered_map<std::string, nanobind::object>;

  int32_t feed(const char *name, const adrt_tensor &destination, std::string &error);
  int32_t receive(const char *name, const adrt_tensor *values, int32_t count, std::string &error);
  template <typename Body> int32_t guarded(std::string &error, Body body);

  Functions feeds, receives;
  std::exception_ptr exception;
  SignalWatch signals;
};

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_HOST_H
