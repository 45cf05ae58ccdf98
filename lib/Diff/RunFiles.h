// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What run.json of two traces says about their differences. Internal to the library.
#ifndef ADJOINT_LIB_DIFF_RUNFILES_H
#define ADJOINT_LIB_DIFF_RUNFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::ad::diff {

/// A line for each difference of programs, options, versions, machines and sources. Runs that are tables
/// alone have none.
llvm::Expected<std::vector<std::string>> compareRunFiles(llvm::StringRef left, llvm::StringRef right);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_DIFF_RUNFILES_H
