// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a running program asks of Python: values of feeds, takers of received values, and whether to go on.
#ifndef ADJOINT_PYTHON_HOST_H
#define ADJOINT_PYTHON_HOST_H

#include "SignalWatch.h"
#include "adjoint/Runner/Program.h"

#include <exception>
#include <nanobind/nanobind.h>
#include <string>
#include <unordered_map>

namespace adjoint_python {

/// Python functions behind the callbacks of a run, which come without the GIL. The first exception stops the
/// program and is kept. Made and destroyed with the GIL.
class Host {
public:
  /// `feeds` gives for each name a function from a shape to an array ready to be copied, or to a text that
  /// says why there is none; `receives` functions of arrays.
  Host(nanobind::dict feeds, nanobind::dict receives);
  mlir::ad::runner::ProgramHost callbacks();
  /// Raises what was raised during the run, if anything; `place` says where the program was.
  void rethrow(const std::string &place) const;

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
