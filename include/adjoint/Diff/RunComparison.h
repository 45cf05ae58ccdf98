// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where two traced runs differ.
#ifndef ADJOINT_DIFF_RUNCOMPARISON_H
#define ADJOINT_DIFF_RUNCOMPARISON_H

#include "adjoint/Diff/DiffReport.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace mlir::ad::diff {

/// Compares the values of two traces, and what their run.json say. `left` and `right` are folders that
/// `ad-runner --trace` has written, or files of records.
llvm::Expected<DiffReport> compareRuns(llvm::StringRef left, llvm::StringRef right,
                                       const std::optional<Bound> &bound, llvm::ArrayRef<double> thresholds);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_RUNCOMPARISON_H
