// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The subcommands of ad-diff that run programs, each in a file of its own. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PROGRAMCOMMANDS_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PROGRAMCOMMANDS_H

#include "../Commands.h"

namespace mlir::ad::diff {

/// Aligns the records of two programs, or of a program and a file of records.
llvm::Expected<DiffReport> runAlignPrograms(const DiffOptions &options);

/// Finds the operations that make NaNs and infinities.
llvm::Expected<DiffReport> runNan(const DiffOptions &options);
/// Finds the rewrites that cause the difference of two configurations of a program.
llvm::Expected<DiffReport> runBisect(const DiffOptions &options);
/// Finds the smallest part of a program that differs between two configurations.
llvm::Expected<DiffReport> runReduce(const DiffOptions &options);
/// Measures the rounding errors of each operation.
llvm::Expected<DiffReport> runShadow(const DiffOptions &options);
/// Finds the operations that must compute in f32 for a bound.
llvm::Expected<DiffReport> runPrecision(const DiffOptions &options);

/// Runs a program after each pass and on each target.
llvm::Expected<DiffReport> runStages(const DiffOptions &options);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PROGRAMCOMMANDS_H
