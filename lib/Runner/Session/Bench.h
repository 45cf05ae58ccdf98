// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The output of --bench: one line of JSON, so that a file can have the lines of many programs. Internal to
// the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_BENCH_H
#define ADJOINT_LIB_RUNNER_SESSION_BENCH_H

#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Runner/Options/Options.h"

namespace mlir::ad::runner {

/// Appends the line of a program that has run on `device`, null for the CPU, to `options.bench`. The line is
/// on the disk on return.
llvm::Error writeBenchLine(const Options &options, const Report &report, const adrt::Device *device);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_BENCH_H
