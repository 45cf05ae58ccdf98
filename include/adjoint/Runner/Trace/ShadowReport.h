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

diff::DiffReport reportShadow(const ShadowRun &run, const ShadowOptions &options, diff::ShadowOrder order,
                              const Signature &signature);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_SHADOWREPORT_H
