// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What run.json of traces says. Internal to the library.
#ifndef ADJOINT_LIB_DIFF_RUNFILES_H
#define ADJOINT_LIB_DIFF_RUNFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::ad::diff {

/// A line for each difference of programs, options, versions, machines and sources. Runs that are tables
/// alone have none.
llvm::Expected<std::vector<std::string>> compareRunFiles(llvm::StringRef left, llvm::StringRef right);

/// How many records the trace has, says its run.json; none if the folder has no such file.
llvm::Expected<std::optional<int64_t>> recordCount(llvm::StringRef folder);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_DIFF_RUNFILES_H
