// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A report of the rounding errors of a program.
#ifndef ADJOINT_RUNNER_TRACE_SHADOWREPORT_H
#define ADJOINT_RUNNER_TRACE_SHADOWREPORT_H

#include "adjoint/Diff/DiffReport.h"
#include "adjoint/Diff/ShadowOrder.h"
#include "adjoint/Runner/Executable/Signature.h"
#include "adjoint/Runner/Trace/ShadowRun.h"

namespace mlir::ad::runner {

/// The bound is about the errors of results and received values.
diff::DiffReport reportShadow(const ShadowRun &run, const ShadowOptions &options, diff::ShadowOrder order,
                              const Signature &signature, const std::optional<diff::Bound> &bound);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_SHADOWREPORT_H
