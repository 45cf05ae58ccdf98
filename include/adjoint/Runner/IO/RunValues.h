// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a run of a program gave to the host.
#ifndef ADJOINT_RUNNER_IO_RUNVALUES_H
#define ADJOINT_RUNNER_IO_RUNVALUES_H

#include "adjoint/Support/Tensor.h"

#include <vector>

namespace mlir::ad::runner {

struct NamedTensor {
  std::string name;
  Tensor value;
};

struct RunValues {
  std::vector<NamedTensor> results;
  /// In the order of the program; each execution of an `ad.receive` adds its values.
  std::vector<NamedTensor> received;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_IO_RUNVALUES_H
