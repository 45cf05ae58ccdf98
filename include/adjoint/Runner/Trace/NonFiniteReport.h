// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A report of the operations that make NaNs and infinities.
#ifndef ADJOINT_RUNNER_TRACE_NONFINITEREPORT_H
#define ADJOINT_RUNNER_TRACE_NONFINITEREPORT_H

#include "adjoint/Diff/DiffReport.h"
#include "adjoint/Runner/Trace/NonFiniteFinder.h"

namespace mlir::ad::runner {

/// Received values and results that have NaNs or infinities, in the order in which they are added.
struct NonFiniteOutputs {
  void add(llvm::StringRef name, const adrt_tensor &value);
  std::vector<std::string> texts;
};

/// The bound holds if no operation made a NaN or an infinity. `failed`: the run ended with an error, and the
/// report is about the operations before it.
diff::DiffReport reportNonFinites(const NonFiniteFinder &finder, const NonFiniteOutputs &outputs,
                                  bool failed = false);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_NONFINITEREPORT_H
