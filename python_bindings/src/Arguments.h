// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The arguments of one call.
#ifndef ADJOINT_PYTHON_ARGUMENTS_H
#define ADJOINT_PYTHON_ARGUMENTS_H

#include "Arrays.h"
#include "adjoint/Runner/Program.h"

#include <memory>

namespace adjoint_python {

/// Lends the memory of arrays to a run. Made and destroyed by whoever holds the GIL.
class Arguments {
public:
  /// One value per argument of the program. What is an array of the right type, shape and layout is taken as
  /// it is, also by an argument that is donated, if it may be written and overlaps no other. `prepare(index,
  /// value)` makes such an array of anything else, for a donated argument always a copy, or raises.
  Arguments(const std::vector<mlir::ad::runner::ProgramValue> &specs, nanobind::tuple values,
            nanobind::callable prepare);

  const std::vector<adrt_tensor> &get() const { return tensors; }

private:
  bool takeAsItIs(size_t index, nanobind::handle value);
  void takePrepared(size_t index, nanobind::handle value, const nanobind::callable &prepare);
  bool overlapsAnother(size_t index) const;

  const std::vector<mlir::ad::runner::ProgramValue> &specs;
  std::unique_ptr<ArrayView[]> views;
  std::vector<nanobind::object> prepared;
  std::vector<adrt_tensor> tensors;
};

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_ARGUMENTS_H
